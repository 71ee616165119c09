import assert from 'node:assert/strict'
import { test } from 'node:test'
import { quotaTrouble } from './quota.ts'

test('names the quota, what was requested, what is used and the limit', () => {
  const said =
    'pods "bert-worker-1" is forbidden: exceeded quota: team-a, requested: cpu=1,pods=1, used: cpu=3,pods=4, limited: cpu=3,pods=4'
  assert.deepEqual(quotaTrouble(said), {
    reason: 'QuotaExceeded',
    message: 'quota team-a is exceeded: requested cpu=1,pods=1, used cpu=3,pods=4, limited to cpu=3,pods=4',
  })
})

test('keeps words it does not know, and ignores other rejections', () => {
  assert.equal(quotaTrouble('exceeded quota: pods=5')?.message, 'exceeded quota: pods=5')
  assert.equal(quotaTrouble('denied by policy'), undefined)
})
