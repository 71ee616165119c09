/** What happens to a training job in a simulated cluster, and what is to be seen of it. */
import assert from 'node:assert/strict'
import { getCondition } from '../../src/api/conditions.ts'
import type { Pod } from '../../src/kube/resources.ts'
import { ATTEMPT_LABEL } from '../../src/plan/training/index.ts'
import { TrainingCluster } from './training-cluster.ts'

export const MINUTE = 60_000

export function started(spec: object = {}): TrainingCluster {
  const cluster = new TrainingCluster(spec)
  cluster.settle()
  cluster.runAll()
  cluster.settle()
  return cluster
}

export function podOf(cluster: TrainingCluster, name: string): Pod {
  const pod = cluster.pods.find(({ metadata }) => metadata.name.startsWith(name))
  assert.ok(pod, `there is no ${name}: ${cluster.pods.map(({ metadata }) => metadata.name).join(', ')}`)
  return pod
}

export const namesOf = (cluster: TrainingCluster): string[] => cluster.pods.map(({ metadata }) => metadata.name)
export const attemptsOf = (cluster: TrainingCluster): string[] => [
  ...new Set(cluster.pods.map(({ metadata }) => metadata.labels?.[ATTEMPT_LABEL] ?? '')),
]
export const worldSizes = (cluster: TrainingCluster): (string | undefined)[] =>
  cluster.pods.map(({ spec }) => spec?.containers[0]?.env?.find(({ name }) => name === 'WORLD_SIZE')?.value)
export const isTrue = ({ job }: TrainingCluster, type: string): boolean =>
  getCondition(job.status?.conditions, type)?.status === 'True'

/** The old gang ends, the backoff passes, and the next gang runs. */
export function restarted(cluster: TrainingCluster): void {
  cluster.settle()
  cluster.letGo()
  cluster.settle()
  cluster.now += 10 * MINUTE
  cluster.settle()
  cluster.letGo()
  cluster.settle()
  cluster.runAll()
  cluster.settle()
}
