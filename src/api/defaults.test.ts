import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { arbitraryOf } from '../../test/random/arbitrary.ts'
import { withDefaults } from './defaults.ts'
import { kinds } from './kinds.ts'
import { modelDeploymentV1 } from './modeldeployment.v1.ts'
import { plain } from './structural.ts'
import { trainingJobV1 } from './trainingjob.v1.ts'
import { fits } from './validity.ts'

test('a training job gets the documented defaults, nested ones included', () => {
  const spec: unknown = withDefaults(trainingJobV1.spec, { model: 'resnet50', dataset: 'imagenet', numWorkers: 4 })
  assert.deepEqual(spec, {
    model: 'resnet50',
    dataset: 'imagenet',
    framework: 'pytorch',
    engine: 'pods',
    cleanPodPolicy: 'Running',
    numWorkers: 4,
    gpusPerWorker: 1,
    suspend: false,
    checkpoint: {
      enabled: true,
      frequency: 1,
      deleteOnCompletion: false,
      keepLast: 3,
      storage: { type: 'pvc', size: '100Gi' },
    },
    networking: { masterPort: 29500 },
    restartPolicy: 'OnFailure',
    backoffLimit: 3,
  })
})

test('a model gets the documented defaults beside what it sets', () => {
  const spec: unknown = withDefaults(modelDeploymentV1.spec, { healthCheck: { intervalSeconds: 10 } })
  assert.deepEqual(spec, {
    scaling: { minReplicas: 1, maxReplicas: 10, targetCPUUtilization: 70 },
    healthCheck: { endpoint: '/health', intervalSeconds: 10, timeoutSeconds: 5, failureThreshold: 3 },
    traffic: { provider: 'auto' },
  })
})

test('defaulting keeps valid objects valid and is idempotent', () => {
  for (const { spec } of kinds.flatMap((kind) => kind.versions)) {
    fc.assert(
      fc.property(arbitraryOf(plain(spec)), (value) => {
        const once = withDefaults(spec, value)
        assert.ok(fits(spec, value))
        assert.ok(fits(spec, once))
        assert.deepEqual(withDefaults(spec, once), once)
      }),
    )
  }
})
