import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Event } from '../kube/resources.ts'
import { latestCause } from './claim-event.ts'

const event = (type: string, reason: string, second: number, note = reason): Event => ({
  apiVersion: 'events.k8s.io/v1',
  kind: 'Event',
  metadata: { name: reason },
  type,
  reason,
  note,
  eventTime: null as never,
  deprecatedLastTimestamp: new Date(second * 1000).toISOString(),
})

for (const [name, events, expected] of [
  ['no event', [], undefined],
  ['only a pod to wait for', [event('Normal', 'WaitForFirstConsumer', 1)], undefined],
  ['the latest event', [event('Normal', 'A', 1), event('Normal', 'B', 2)], 'B: B'],
  [
    'a warning before later others',
    [event('Warning', 'Failed', 1, 'no disk'), event('Normal', 'B', 2)],
    'Failed: no disk',
  ],
  ['the latest warning', [event('Warning', 'A', 2), event('Warning', 'B', 1)], 'A: A'],
] as const)
  test(`the cause of a Pending claim: ${name}`, () => assert.equal(latestCause(events), expected))
