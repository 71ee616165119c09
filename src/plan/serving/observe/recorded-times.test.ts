import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ServingStatus } from '../../../api/serving-status.ts'
import { timestamp } from '../../time.ts'
import type { ServingObserved } from './observed.ts'
import { withPastTimes } from './recorded-times.ts'

const NOW = Date.parse('2026-01-01T12:00:00.500Z')
const HOUR = 3_600_000
const NEXT_SECOND = '2026-01-01T12:00:01Z'

function recordedAt(time: string): ServingStatus {
  const weights = [{ name: 'v1', weight: 100 }]
  return {
    phase: 'Running',
    traffic: { provider: 'replicas', previous: 'router', since: time },
    activeVersions: [
      { name: 'v1', weight: 100, health: { evictions: 1, lastEvictionTime: time } },
      { name: 'v0', weight: 0, idleSince: time },
    ],
    rollout: {
      phase: 'Progressing',
      revision: 2,
      stableRevision: 1,
      weights,
      stepStartedAt: time,
      inEffectSince: time,
      analysis: { since: time, counters: [] },
    },
  }
}

const seen = (status?: ServingStatus): ServingStatus | undefined =>
  withPastTimes({ model: { status }, now: NOW } as ServingObserved).model.status

test('times of a clock that was ahead become now', () => {
  assert.deepEqual(seen(recordedAt(timestamp(NOW + 2 * HOUR))), recordedAt(NEXT_SECOND))
})

test('earlier times, and the next full second, stay', () => {
  for (const time of [timestamp(NOW - 2 * HOUR), NEXT_SECOND])
    assert.deepEqual(seen(recordedAt(time)), recordedAt(time))
})

test('the times of a rollout that has ended stay', () => {
  const { rollout, phase } = recordedAt(timestamp(NOW + 2 * HOUR))
  assert.ok(rollout)
  for (const ended of ['Completed', 'RolledBack', 'Aborted', 'Halted'] as const) {
    const status: ServingStatus = { ...(phase && { phase }), rollout: { ...rollout, phase: ended } }
    assert.deepEqual(seen(status), status)
  }
})

test('a model without a status, or without times', () => {
  assert.equal(seen(), undefined)
  assert.deepEqual(seen({ phase: 'Pending' }), { phase: 'Pending' })
})
