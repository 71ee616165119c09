/** What users, clients and versions do during a rollout, and where it may rest. */
import assert from 'node:assert/strict'
import type { RolloutStatus } from '../../src/api/rollout-status.ts'
import type { ServingStatus } from '../../src/api/serving-status.ts'
import { ABORT_ANNOTATION, PROMOTE_ANNOTATION, RETRY_ANNOTATION } from '../../src/api/serving-rollout.ts'
import type { Dice } from '../random/dice.ts'
import { restart } from './router-pod.ts'
import type { ServingCluster } from './serving-cluster.ts'

const VERSIONS = ['v1', 'v2', 'v3', 'v4']

const EVALUATION = { name: 'accuracy', job: { image: 'eval:1', timeoutSeconds: 60 } }

export function someRollout(dice: Dice): object {
  const steps = [1, 10, 25, 50, 90, 100].filter(() => dice.is(0.35))
  const step = (weight: number) => ({
    weight,
    ...(dice.is(0.2) ? { pause: true } : dice.is(0.4) && { pauseSeconds: dice.of([0, 5, 20]) }),
  })
  const analysis = {
    ...(dice.is(0.7) ? { maxErrorRate: '5%' } : { maxErrorRateRatio: '150%' }),
    ...(dice.is(0.4) && { maxLatencyRatio: '200%' }),
    minRequests: dice.of([1, 20, 100]),
    intervalSeconds: dice.of([5, 10]),
    failureLimit: dice.of([1, 1, 3]),
    noTraffic: dice.of(['Wait', 'Wait', 'Pass', 'Fail']),
    ...(dice.is(0.3) && { metrics: [EVALUATION] }),
    watchSeconds: dice.of([0, 10, 30]),
  }
  const strategy = dice.of(['canary', 'canary', 'blueGreen', 'blueGreen', 'recreate'])
  const preview = dice.is(0.3) ? { pause: true } : { previewSeconds: dice.of([0, 5]) }
  const blueGreen = { ...preview, keepSeconds: dice.of([0, 10, 30]) }
  return {
    strategy,
    ...(strategy === 'blueGreen' && dice.is(0.8) && { blueGreen }),
    ...(strategy === 'canary' && steps.length > 0 && { steps: steps.map(step) }),
    ...(dice.is(0.7) && { analysis }),
    autoRollback: dice.is(0.8),
    progressDeadlineSeconds: dice.of([30, 600]),
  }
}

type Move = (cluster: ServingCluster, dice: Dice) => void

/** About the present revision, or another one: a command for another one is without effect. */
function command(cluster: ServingCluster, dice: Dice): void {
  const { revision = 1, step = 1 } = cluster.model.status?.rollout ?? {}
  const number = dice.is(0.8) ? revision : revision + dice.of([-1, 1])
  const name = dice.of([PROMOTE_ANNOTATION, PROMOTE_ANNOTATION, ABORT_ANNOTATION, RETRY_ANNOTATION])
  const isStep = name === PROMOTE_ANNOTATION && dice.is(0.6)
  cluster.note({ [name]: isStep ? `${number}/${step}` : String(number) })
}

function turn(cluster: ServingCluster, dice: Dice): void {
  const name = dice.of(VERSIONS)
  if (dice.is(0.4)) cluster.behaviours.delete(name)
  else cluster.behaviours.set(name, { errors: dice.of([0, 4, 20, 100]), latencyMs: dice.of([10, 25]) })
}

export const rolloutMoves: readonly Move[] = [
  (cluster) => cluster.request(),
  (cluster) => cluster.request(),
  turn,
  turn,
  command,
  (cluster, dice) => cluster.edit({ paused: dice.is(0.3) }),
  (cluster, dice) => cluster.edit({ rollout: dice.is(0.8) ? someRollout(dice) : undefined }),
  (cluster, dice) => cluster.edit({ rollbackTo: dice.is(0.4) ? { revision: dice.of([1, 2, 3]) } : undefined }),
  (cluster, dice) => cluster.routers.length > 0 && restart(dice.of(cluster.routers), cluster.now),
]

/** Old versions lose their traffic while they are removed. */
const isClearing = ({ strategy, stepWeight, reason }: RolloutStatus): boolean =>
  strategy === 'recreate' && stepWeight === 0 && reason !== 'SpecPaused'

/** Traffic and versions are as the record says. */
export function rolloutAtRest({ model, servers }: ServingCluster): void {
  const { rollout, history, activeVersions, traffic } = model.status ?? {}
  if (!rollout) return
  const isOver = ['RolledBack', 'Aborted', 'Completed'].includes(rollout.phase)
  const stable = history?.find(({ revision }) => revision === rollout.stableRevision)?.weights
  if (isOver) {
    const names = stable?.map(({ name }) => name).toSorted()
    assert.deepEqual(rollout.weights, stable, 'G5: the weights of the last good revision')
    assert.deepEqual([...servers.keys()].toSorted(), names, 'G5: its versions, and no other')
  }
  if (traffic?.provider === 'replicas' || (!isOver && isClearing(rollout))) return
  isReported(rollout, activeVersions)
}

function isReported(rollout: RolloutStatus, activeVersions: ServingStatus['activeVersions']): void {
  const reported = new Map(activeVersions?.map(({ name, weight }) => [name, weight]))
  for (const { name, weight } of rollout.weights)
    assert.equal(reported.get(name) ?? 0, weight, `G5: ${name} of the step`)
}
