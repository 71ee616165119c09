/** S10: a Job of an analysis belongs to a step that is recorded to be in effect, and to none that has its result. */
import assert from 'node:assert/strict'
import type { Job } from '../../src/kube/resources.ts'
import { ROLE_LABEL, VERSION_LABEL } from '../../src/plan/model-names.ts'
import type { ServingCluster } from './serving-cluster.ts'

export function checkAnalysis({ model }: ServingCluster, { metadata, spec }: Job): void {
  if (metadata.labels?.[ROLE_LABEL] !== 'analysis') return
  const { revision, step, inEffectSince, jobs = [] } = model.status?.rollout ?? {}
  const { env = [] } = spec?.template.spec?.containers[0] ?? {}
  const valueOf = (wanted: string): string | undefined => env.find(({ name }) => name === wanted)?.value
  const told = [valueOf('ROLLOUT_REVISION'), valueOf('ROLLOUT_STEP')]
  assert.deepEqual(told, [String(revision), String(step)], `S10: ${metadata.name} is of a step that is not recorded`)
  assert.ok(inEffectSince, `S10: ${metadata.name} is created before its step is in effect`)
  const isJudged = jobs.some(({ version }) => version === metadata.labels?.[VERSION_LABEL])
  assert.ok(!isJudged, `S10: ${metadata.name} is created although its result is recorded`)
}
