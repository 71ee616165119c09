/** A model in an image is mounted, and no server starts without it where the cluster does not support that. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { at, template } from '../../../../test/builders/server-pod.ts'
import { modelDeployment, ServingCluster } from '../../../../test/sim/serving-cluster.ts'
import { calm } from '../../../../test/sim/serving-history.ts'
import type { Deployment, Job } from '../../../kube/resources.ts'
import { defaultServingConfig } from '../config.ts'
import { servedModel, serverOf } from '../observe/served-model.ts'
import { planServing } from '../plan.ts'
import { planServingRejection } from '../report/stuck.ts'
import { validationDigest } from './validation-digest.ts'

const IMAGE = 'registry.example.com/models/bert'
const DIGEST = `sha256:${'a'.repeat(64)}`

const places: readonly [uri: string, reference: string, subPath: string | undefined, path: string][] = [
  [`oci://${IMAGE}:v1`, `${IMAGE}:v1`, undefined, '/mnt/models'],
  [`oci://${IMAGE}@${DIGEST}`, `${IMAGE}@${DIGEST}`, undefined, '/mnt/models'],
  [`oci://${IMAGE}:v1.5?path=/`, `${IMAGE}:v1.5`, undefined, '/mnt/models'],
  [`oci://${IMAGE}:v1?path=/models/bert/`, `${IMAGE}:v1`, 'models/bert', '/mnt/models'],
  [`oci://${IMAGE}:v1?path=/models/model.pt`, `${IMAGE}:v1`, 'models', '/mnt/models/model.pt'],
  [`oci://${IMAGE}:v1?path=/model.pt`, `${IMAGE}:v1`, undefined, '/mnt/models/model.pt'],
]

for (const [uri, reference, subPath, path] of places) {
  test(`${uri} is mounted read-only, and nothing is fetched`, () => {
    const { pod, container, fetch } = template({ image: 'own:1', storage: { size: '1Gi' }, ...at(uri) })
    assert.equal(fetch, undefined)
    assert.deepEqual(pod.spec.volumes?.[0], { name: 'model', image: { reference } })
    const place = { name: 'model', mountPath: '/mnt/models', readOnly: true }
    assert.deepEqual(container.volumeMounts?.[0], subPath === undefined ? place : { ...place, subPath })
    assert.equal(container.env?.find(({ name }) => name === 'MODEL_PATH')?.value, path)
  })
}

test('every other image or path needs another validation', () => {
  const uris = [`oci://${IMAGE}:v1`, `oci://${IMAGE}:v2`, `oci://${IMAGE}@${DIGEST}`, `oci://${IMAGE}:v1?path=/models`]
  const digests = uris.map((uri) => {
    const model = modelDeployment({ validation: { script: 'validate.py', timeoutSeconds: 60 }, ...at(uri) })
    const server = serverOf(model, undefined, {})
    assert.ok(server)
    const served = servedModel(model, server)
    const [version] = served.versions
    return version && validationDigest(served, version, defaultServingConfig)
  })
  assert.equal(new Set(digests).size, uris.length)
})

const start = (spec: object): ServingCluster => new ServingCluster(planServing, () => undefined, { spec })
const inImage = at(`oci://${IMAGE}:v1`)

/** What an API server does that has the feature gate off. */
function dropImageVolumes(cluster: ServingCluster): void {
  for (const [key, object] of cluster.objects) {
    const { spec } = object as Deployment | Job
    if (!spec?.template?.spec?.volumes) continue
    const { volumes } = spec.template.spec
    const rest = { ...spec.template.spec, volumes: volumes.filter((volume) => !('image' in volume)) }
    cluster.objects.set(key, { ...object, spec: { ...spec, template: { ...spec.template, spec: rest } } } as never)
  }
}

const isPaused = (cluster: ServingCluster): boolean | undefined => cluster.servers.get('v1')?.spec?.paused

const UNSUPPORTED =
  /^v1: This cluster does not support modelPath oci:\S+: it needs Kubernetes 1\.33 or newer with the feature gate ImageVolume .* and containerd 2\.1 or newer; upgrade the cluster and restart the operator, or use another modelPath$/

test('the Deployment is paused until it is observed with the model', () => {
  const cluster = start(inImage)
  cluster.pass()
  assert.equal(isPaused(cluster), true)
  cluster.pass()
  assert.equal(isPaused(cluster), undefined)
  assert.ok(calm(cluster, 40))
  assert.equal(cluster.model.status?.phase, 'Running')
  cluster.edit(at(`oci://${IMAGE}:v2`))
  cluster.pass()
  assert.equal(isPaused(cluster), undefined, 'a server that stored one image volume stores the next')
})

test('where the API server drops the model, the Deployment stays paused and the status says what to change', () => {
  const cluster = start(inImage)
  cluster.pass()
  dropImageVolumes(cluster)
  cluster.pass()
  assert.equal(isPaused(cluster), true)
  assert.equal(cluster.model.status?.phase, 'Failed')
  assert.equal(cluster.model.status?.activeVersions?.[0]?.reason, 'ImageVolumesUnsupported')
  assert.match(cluster.model.status?.message ?? '', UNSUPPORTED)
  cluster.edit(at('/baked/in'))
  assert.ok(calm(cluster, 40))
  assert.equal(isPaused(cluster), undefined)
  assert.equal(cluster.model.status?.phase, 'Running')
})

test('a running version is paused with the change, and is not reported before it was tried', () => {
  const cluster = start({})
  assert.ok(calm(cluster, 40))
  cluster.edit(inImage)
  cluster.pass()
  assert.equal(isPaused(cluster), true)
  assert.notEqual(cluster.model.status?.activeVersions?.[0]?.reason, 'ImageVolumesUnsupported')
  dropImageVolumes(cluster)
  cluster.pass()
  assert.match(cluster.model.status?.message ?? '', UNSUPPORTED)
  assert.equal(cluster.model.status?.phase, 'Degraded')
})

test('a validation that ran without the model is not believed', () => {
  const cluster = start({ ...inImage, validation: { script: 'validate.py', timeoutSeconds: 60 } })
  cluster.pass()
  dropImageVolumes(cluster)
  cluster.judge('Complete')
  cluster.pass()
  assert.equal(cluster.deployments.length, 0)
  assert.match(cluster.model.status?.message ?? '', /needs Kubernetes 1\.33 .* and delete Job iris-v1-validate-/)
})

test('an API server that does not know the field is explained', () => {
  const cluster = start(inImage)
  const message =
    'failed to create typed patch object (team-a/iris-deployment; apps/v1, Kind=Deployment): ' +
    '.spec.template.spec.volumes[name="model"].image: field not declared in schema'
  const { status } = planServingRejection(cluster.observed, { reason: 'Refused', message })
  assert.match(status?.message ?? '', /^This cluster does not support modelPath oci:.* upgrade the cluster, or use/)
})
