/** The static types, checked by the compiler: what the server always fills in is certain, and nothing can be changed. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ModelDeploymentSpec } from './modeldeployment.v1.ts'
import type { TrainingJobSpec } from './trainingjob.v1.ts'

function reading(job: TrainingJobSpec, model: ModelDeploymentSpec): unknown[] {
  const workers: number = job.numWorkers
  const storage: 'pvc' | 's3' | 'gcs' = job.checkpoint.storage.type
  const weights: readonly number[] = model.versions.map(({ weight }) => weight)
  // @ts-expect-error: a field without a default may be absent
  const name: string = job.model
  // @ts-expect-error: an enum is not just any text
  const isOdd = job.restartPolicy === 'Sometimes'
  return [workers, storage, weights, name, isOdd]
}

function changing(job: TrainingJobSpec): void {
  // @ts-expect-error: what came from the server is not ours to change
  job.numWorkers = 2
  // @ts-expect-error: nor is what it contains
  job.command?.push('more')
}

test('a declaration gives exact, read-only types', () => {
  assert.ok([reading, changing].every((checked) => typeof checked === 'function'))
})
