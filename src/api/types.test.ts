/** Static types, checked by the compiler: fields with a default are present, and all fields are read-only. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ModelDeploymentSpec } from './modeldeployment.v1.ts'
import type { TrainingJobSpec } from './trainingjob.v1.ts'

function reading(job: TrainingJobSpec, model: ModelDeploymentSpec): unknown[] {
  const workers: number = job.numWorkers
  const storage: 'pvc' | 's3' | 'gcs' = job.checkpoint.storage.type
  const weights: readonly number[] = model.versions.map(({ weight }) => weight)
  // @ts-expect-error: a field without a default may be undefined
  const name: string = job.model
  // @ts-expect-error: not a value of the enum
  const isOdd = job.restartPolicy === 'Sometimes'
  return [workers, storage, weights, name, isOdd]
}

function changing(job: TrainingJobSpec): void {
  // @ts-expect-error: fields are read-only
  job.numWorkers = 2
  // @ts-expect-error: nested fields are read-only
  job.command?.push('more')
}

test('declarations have exact, read-only types', () => {
  assert.ok([reading, changing].every((checked) => typeof checked === 'function'))
})
