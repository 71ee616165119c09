import assert from 'node:assert/strict'
import { test } from 'node:test'
import { selects } from './selector.ts'

const labels = { app: 'bert', 'example.com/uid': '1', empty: '' }

const cases: readonly (readonly [string, boolean])[] = [
  ['app', true],
  ['!app', false],
  ['tier', false],
  ['!tier', true],
  ['app=bert', true],
  ['app==bert', true],
  ['app=gpt', false],
  ['app!=gpt', true],
  ['tier!=gpt', true],
  ['app!=bert', false],
  ['empty=', true],
  ['app=bert,example.com/uid', true],
  ['app=bert, tier', false],
]

for (const [selector, expected] of cases)
  test(`${selector} selects ${expected ? '' : 'not '}what is labelled so`, () =>
    assert.equal(selects(selector, labels), expected))

test('an object without labels matches no label', () => {
  assert.equal(selects('app'), false)
  assert.equal(selects('!app'), true)
})

test('rejects set-based selectors', () => {
  for (const selector of ['app in (a, b)', '', 'a b', 'constructor('])
    assert.throws(() => selects(selector, labels), /is not supported/)
  assert.equal(selects('constructor', {}), false)
})
