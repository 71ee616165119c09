import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Plan, toDelete, toWrite } from '../decision/plan.ts'
import type { KubeObject } from '../kube/object.ts'
import { decisionLine } from './decision-line.ts'

const owner = {
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { namespace: 'a', name: 'x', generation: 3 },
  status: {
    state: 'Running',
    restarts: 0,
    step: 10,
    conditions: [{ type: 'Ready', status: 'True', reason: 'Up', message: 'all is well' }],
  },
}
const pod = (name: string, deletionTimestamp?: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...(deletionTimestamp !== undefined && { deletionTimestamp }) },
})
const nothing: Plan = { writes: [], deletions: [], events: [] }
const lineOf = (plan: Partial<Plan>) => decisionLine(owner, { ...nothing, ...plan }, ['state', 'restarts'])

test('a plan that changes the state has the values before and after, the conditions and the reasons', () => {
  const conditions = [{ type: 'Ready', status: 'False', reason: 'Restarting', message: 'pod x-0 said s3cret' }]
  const events = [
    { type: 'Warning', reason: 'WorkerFailed', note: 'said s3cret' },
    { type: 'Normal', reason: 'Restarting', note: 'again' },
  ] as const
  const line = lineOf({ status: { ...owner.status, state: 'Restarting', restarts: 1, conditions }, events })
  assert.deepEqual(line, {
    level: 'warn',
    fields: {
      generation: 3,
      changed: { state: ['Running', 'Restarting'], restarts: [0, 1] },
      conditions: { Ready: 'False/Restarting' },
      reasons: ['WorkerFailed', 'Restarting'],
    },
  })
})

test('deletions are counted by kind, without objects that are already terminating', () => {
  const deletions = toDelete('graceful', [pod('x-0'), pod('x-1'), pod('x-2', '2030-01-01T00:00:00Z')])
  assert.deepEqual(lineOf({ deletions })?.fields.deleted, { Pod: 2 })
  const stuck = toDelete('force', [pod('x-2', '2030-01-01T00:00:00Z')])
  assert.deepEqual(lineOf({ deletions: stuck })?.fields.deleted, { Pod: 1 })
})

test('a pass that only updates numbers, or writes children, has no line', () => {
  assert.equal(lineOf({}), undefined)
  assert.equal(lineOf({ status: { ...owner.status, step: 11 } }), undefined)
  assert.equal(lineOf({ writes: toWrite('apply', [pod('x-0')]) }), undefined)
})

test('a line has no messages, no notes, no objects and no value that is not a scalar', () => {
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' }, data: { key: 's3cret' } }
  const conditions = [{ type: 'Ready', status: 'False', reason: 'Failed', message: 's3cret' }]
  const line = lineOf({
    writes: toWrite('createUnread', [secret]),
    status: { state: { nested: 's3cret' }, conditions, log: 's3cret' },
    events: [{ type: 'Normal', reason: 'Failed', note: 's3cret' }],
  })
  assert.doesNotMatch(JSON.stringify(line), /s3cret|well/)
  assert.deepEqual(line?.fields.changed, { state: ['Running', null], restarts: [0, null] })
})
