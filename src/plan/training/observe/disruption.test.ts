/** Which failures are disruptions. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TrainingCluster } from '../../../../test/sim/training-cluster.ts'
import type { Pod } from '../../../kube/resources.ts'
import { CONTAINER } from '../names.ts'
import { failuresOf } from './failure.ts'
import { memberOf } from './member.ts'

const { observed } = new TrainingCluster()
const { now } = observed
const at = (seconds: number): string => new Date(now + seconds * 1000).toISOString()

interface Sketch {
  readonly phase?: string
  readonly exitCode?: number
  readonly finished?: number
  readonly mark?: string
  readonly deleted?: number
  readonly reason?: string
  readonly node?: string
}

/** Times are seconds from now. `deleted` is the time of the request. */
function pod({ phase = 'Running', exitCode, finished = 0, mark, deleted, reason, node }: Sketch): Pod {
  const terminated = exitCode === undefined ? undefined : { exitCode, finishedAt: at(finished), reason: 'Error' }
  const container = {
    name: CONTAINER,
    image: '',
    imageID: '',
    ready: false,
    restartCount: 0,
    state: { ...(terminated && { terminated }) },
  }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'bert-workers-0',
      ...(deleted !== undefined && { deletionTimestamp: at(deleted + 30), deletionGracePeriodSeconds: 30 }),
    },
    ...(node !== undefined && { spec: { containers: [], nodeName: node } }),
    status: {
      phase,
      ...(reason !== undefined && { reason }),
      ...(mark !== undefined && {
        conditions: [{ type: 'DisruptionTarget', status: 'True', reason: mark, lastTransitionTime: at(-5) }],
      }),
      containerStatuses: terminated ? [container] : [],
    },
  }
}

const nodes = [
  { name: 'dead', ready: false, since: now - 300_000 },
  { name: 'silent', ready: false, since: now - 10_000 },
]

const table: readonly { name: string; given: Sketch; expected: string | undefined }[] = [
  { name: 'runs', given: {}, expected: undefined },
  {
    name: 'has succeeded, and is deleted',
    given: { phase: 'Succeeded', exitCode: 0, deleted: -1 },
    expected: undefined,
  },
  { name: 'is preempted', given: { mark: 'PreemptionByScheduler', deleted: -1 }, expected: 'Preempted (disruption)' },
  {
    name: 'was preempted',
    given: { phase: 'Failed', exitCode: 137, mark: 'PreemptionByScheduler' },
    expected: 'Preempted (disruption)',
  },
  { name: 'is evicted', given: { mark: 'EvictionByEvictionAPI', deleted: -1 }, expected: 'Evicted (disruption)' },
  { name: 'loses its node', given: { mark: 'DeletionByTaintManager', deleted: -1 }, expected: 'NodeLost (disruption)' },
  {
    name: 'is collected after its node',
    given: { phase: 'Failed', mark: 'DeletionByPodGC' },
    expected: 'NodeLost (disruption)',
  },
  {
    name: 'ends with a node that shuts down',
    given: { phase: 'Failed', mark: 'TerminationByKubelet' },
    expected: 'NodeShutdown (disruption)',
  },
  { name: 'has the condition and still runs', given: { mark: 'PreemptionByScheduler' }, expected: undefined },
  { name: 'is deleted', given: { deleted: -1 }, expected: 'PodDeleted (disruption)' },
  {
    name: 'ends because it was deleted',
    given: { phase: 'Failed', exitCode: 143, finished: 0, deleted: -5 },
    expected: 'PodDeleted (disruption)',
  },
  {
    name: 'had failed when it was deleted',
    given: { phase: 'Failed', exitCode: 1, finished: -9, deleted: -5 },
    expected: 'Error 1',
  },
  {
    name: 'was rejected by its node',
    given: { phase: 'Failed', reason: 'OutOfcpu' },
    expected: 'OutOfcpu (disruption)',
  },
  {
    name: 'was evicted for its own use of disk',
    given: { phase: 'Failed', reason: 'Evicted' },
    expected: 'Evicted undefined',
  },
  { name: 'is on a node that has not been ready for long', given: { node: 'dead' }, expected: 'NodeLost (disruption)' },
  { name: 'is on a node that has just become not ready', given: { node: 'silent' }, expected: undefined },
  { name: 'exits', given: { phase: 'Failed', exitCode: 2 }, expected: 'Error 2' },
]

for (const { name, given, expected } of table) {
  test(`a worker that ${name}: ${expected ?? 'nothing is wrong'}`, () => {
    const [failure] = failuresOf({ ...observed, nodes }, [memberOf(pod(given), { role: 'worker', index: 0 })])
    const actual = failure && `${failure.reason} ${failure.disrupted ? '(disruption)' : failure.exitCode}`
    assert.equal(actual, expected)
  })
}

test('the earliest failure is the cause; of two at the same time, the disruption', () => {
  const failures = (...sketches: readonly Sketch[]): string[] => {
    const members = sketches.map((sketch, index) => memberOf(pod(sketch), { role: 'worker', index }))
    return failuresOf(observed, members).map(({ member }) => String(member.index))
  }
  assert.deepEqual(
    failures({ phase: 'Failed', exitCode: 1, finished: -1 }, { phase: 'Failed', exitCode: 2, finished: -9 }),
    ['1', '0'],
  )
  assert.deepEqual(
    failures({ phase: 'Failed', exitCode: 1, finished: -5 }, { mark: 'PreemptionByScheduler', deleted: -5 }),
    ['1', '0'],
  )
  assert.deepEqual(
    failures({ phase: 'Failed', exitCode: 1, finished: -8 }, { mark: 'PreemptionByScheduler', deleted: -5 }),
    ['0', '1'],
  )
})
