/** A simulated cluster with a model that rolls out, for tests that follow it step by step. */
import assert from 'node:assert/strict'
import { planServing } from '../../src/plan/serving/index.ts'
import { ServingCluster, version } from './serving-cluster.ts'
import { calm } from './serving-history.ts'
import { ServingOracles } from './serving-oracles.ts'

export const analysis = {
  maxErrorRate: '5%',
  maxLatencyRatio: '200%',
  minRequests: 20,
  intervalSeconds: 10,
  watchSeconds: 20,
}
export const steps = [{ weight: 10 }, { weight: 50, pauseSeconds: 15 }]
export const one = { versions: [version('v1', 100)] }
export const two = { versions: [version('v2', 100)] }

/** A model with v1, served; with oracles that look at every write. */
export function served(rollout: object = { steps, analysis }, more: object = {}): ServingCluster {
  const oracles = new ServingOracles()
  const judge = (now: ServingCluster, write: Parameters<ServingOracles['check']>[1]) => oracles.check(now, write)
  const cluster = new ServingCluster((observed) => planServing(observed), judge, { spec: { ...one, rollout, ...more } })
  assert.ok(calm(cluster, 60))
  return cluster
}

export const phase = (cluster: ServingCluster): string => cluster.model.status?.rollout?.phase ?? ''
export const weights = (cluster: ServingCluster): string => cluster.model.status?.weights ?? ''
export const result = (cluster: ServingCluster): string[] =>
  cluster.model.status?.history?.map(({ revision, result: how }) => `${revision} ${how}`) ?? []

/** Until a rollout is at a step, or in a phase. */
export function until(cluster: ServingCluster, isThere: (cluster: ServingCluster) => boolean): void {
  for (let pass = 0; pass < 120 && !isThere(cluster); pass += 1) calm(cluster, 1)
  assert.ok(isThere(cluster), JSON.stringify(cluster.model.status))
}

export const isAt =
  (step: number) =>
  ({ model }: ServingCluster): boolean =>
    model.status?.rollout?.step === step && model.status.rollout.inEffectSince !== undefined
