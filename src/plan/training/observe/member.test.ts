/** In a pod with sidecars, only the training container decides. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../../kube/resources.ts'
import { containerOf, isOutlived, memberOf, phaseOf, startingContainers } from './member.ts'

type State = 'running' | 'pulling' | 'crashing' | number

const stateOf = (state: State): object => {
  if (state === 'running') return { running: {} }
  if (state === 'pulling') return { waiting: { reason: 'ImagePullBackOff' } }
  if (state === 'crashing') return { waiting: { reason: 'CrashLoopBackOff' } }
  return { terminated: { exitCode: state, finishedAt: '2026-01-01T00:00:10Z' } }
}

const statuses = (states: Readonly<Record<string, State>>): object[] =>
  Object.entries(states).map(([name, state]) => ({ name, restartCount: 0, state: stateOf(state) }))

interface Given {
  readonly phase: string
  readonly containers: Readonly<Record<string, State>>
  readonly init?: Readonly<Record<string, State>>
  readonly more?: object
  readonly metadata?: object
}

function podOf({ phase, containers, init = {}, more = {}, metadata = {} }: Given): Pod {
  const status = {
    phase,
    containerStatuses: statuses(containers),
    initContainerStatuses: statuses(init),
    ...more,
  }
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', ...metadata }, status } as unknown as Pod
}

const worker = 'training-worker'
const evicted = (time: string) => ({
  conditions: [{ type: 'DisruptionTarget', status: 'True', lastTransitionTime: time }],
})
const deleted = (time: string) => ({ deletionTimestamp: time, deletionGracePeriodSeconds: 0 })

const table: readonly [string, Given, string][] = [
  ['both run', { phase: 'Running', containers: { a: 'running', [worker]: 'running' } }, 'Running'],
  ['the sidecar has failed', { phase: 'Running', containers: { a: 1, [worker]: 'running' } }, 'Running'],
  ['the sidecar has ended', { phase: 'Running', containers: { a: 0, [worker]: 'running' } }, 'Running'],
  ['the worker has succeeded', { phase: 'Running', containers: { a: 'running', [worker]: 0 } }, 'Succeeded'],
  ['the worker has failed', { phase: 'Running', containers: { a: 'running', [worker]: 3 } }, 'Failed'],
  ['the sidecar failed after the worker', { phase: 'Failed', containers: { a: 137, [worker]: 0 } }, 'Succeeded'],
  ['the worker failed, the sidecar did not', { phase: 'Failed', containers: { a: 0, [worker]: 3 } }, 'Failed'],
  ['the sidecar cannot start', { phase: 'Pending', containers: { a: 'pulling', [worker]: 'running' } }, 'Pending'],
  [
    'an ended worker and a sidecar that cannot start',
    { phase: 'Pending', containers: { a: 'pulling', [worker]: 0 } },
    'Succeeded',
  ],
  ['a worker alone', { phase: 'Failed', containers: { [worker]: 0 } }, 'Failed'],
  [
    'a worker that was evicted and exits with 0',
    {
      phase: 'Failed',
      containers: { a: 0, [worker]: 0 },
      more: { reason: 'Evicted', ...evicted('2026-01-01T00:00:05Z') },
    },
    'Failed',
  ],
  [
    'a worker that had succeeded before the eviction',
    { phase: 'Failed', containers: { a: 137, [worker]: 0 }, more: evicted('2026-01-01T00:01:00Z') },
    'Succeeded',
  ],
  [
    'a worker that was deleted and exits with 0',
    { phase: 'Running', containers: { a: 'running', [worker]: 0 }, metadata: deleted('2026-01-01T00:00:05Z') },
    'Running',
  ],
  [
    'a worker that had succeeded before the deletion',
    { phase: 'Running', containers: { a: 'running', [worker]: 0 }, metadata: deleted('2026-01-01T00:01:00Z') },
    'Succeeded',
  ],
]

for (const [name, given, phase] of table) test(`${name}: ${phase}`, () => assert.equal(phaseOf(podOf(given)), phase))

const member = (given: Given) => memberOf(podOf(given), { role: 'worker', index: 0 })

test('the container of a member is never a sidecar', () => {
  const ended = member({ phase: 'Failed', containers: { a: 7, [worker]: 3 }, init: { side: 143 } })
  assert.equal(containerOf(ended)?.state?.terminated?.exitCode, 3)
  const blocked = member({ phase: 'Pending', containers: { [worker]: 'pulling' }, init: { prepare: 1 } })
  assert.equal(containerOf(blocked)?.name, 'prepare')
  assert.equal(containerOf(member({ phase: 'Running', containers: { a: 'running', b: 'running' } })), undefined)
})

test('a sidecar that cannot start is found, after the training container', () => {
  const given = { phase: 'Pending', containers: { a: 'pulling', [worker]: 'running' } } as const
  assert.deepEqual(
    startingContainers(member(given)).map(({ name }) => name),
    [worker, 'a'],
  )
})

test('a member is outlived while its sidecars run', () => {
  assert.equal(isOutlived(member({ phase: 'Running', containers: { a: 'running', [worker]: 0 } })), true)
  assert.equal(isOutlived(member({ phase: 'Running', containers: { a: 'running', [worker]: 'running' } })), false)
  assert.equal(isOutlived(member({ phase: 'Succeeded', containers: { a: 0, [worker]: 0 } })), false)
})
