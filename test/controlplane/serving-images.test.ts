/** A model in an image, on an API server with image volumes and on one that drops them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ModelDeployment } from '../../src/api/modeldeployment.v1.ts'
import { Deployment, Pod } from '../../src/kube/resources.ts'
import { createNamespace } from '../cluster/namespaces.ts'
import { ownCluster } from '../cluster/own-cluster.ts'
import { apiCluster } from '../cluster/api-cluster.ts'
import { namespace } from '../cluster/shared-cluster.ts'
import { servingFixture, versionIn } from '../fixtures/serving.ts'

const DEPLOYMENT = 'bert-deployment'
const at = (modelPath: string) => ({ versions: [{ name: 'v1', weight: 100, modelPath }] })

test('is mounted, and written twice until it rests', async (t) => {
  const { cluster, client, node } = await apiCluster()
  const into = await namespace(t)
  const { create, reaches, audit, passesThrice } = servingFixture(
    t,
    { client, cluster, node: node.name },
    { namespace: into, resyncMs: 200 },
  )
  await create(at('oci://registry.example.com/models/bert:v1?path=/models'))
  await reaches('Running')
  const { spec } = await client.get(Deployment, { namespace: into, name: DEPLOYMENT })
  const [volume] = spec?.template.spec?.volumes ?? []
  assert.deepEqual(volume, {
    name: 'model',
    image: { reference: 'registry.example.com/models/bert:v1', pullPolicy: 'IfNotPresent' },
  })
  assert.equal(spec?.paused, undefined)
  assert.equal(spec?.template.spec?.containers[0]?.volumeMounts?.[0]?.subPath, 'models')
  await passesThrice()
  const writes = (await audit.take()).filter((call) => JSON.stringify(call).includes(`deployments/${DEPLOYMENT}`))
  assert.equal(writes.length, 2, JSON.stringify(writes))
})

test('starts no server where the API server drops it, and the status says what to change', async (t) => {
  const { cluster, client, node } = await ownCluster({ emulatedVersion: '1.34' })
  const into = await createNamespace(client, 'team-a')
  const { create, change, becomes, reaches, passesThrice } = servingFixture(
    t,
    { client, cluster, node: node.name },
    { namespace: into, resyncMs: 200 },
  )
  await create(at('oci://registry.example.com/models/bert:v1'))
  const unsupported = (model: ModelDeployment): boolean =>
    model.status?.activeVersions?.some(({ reason }) => reason === 'ImageVolumesUnsupported') ?? false
  const failed = await becomes('unsupported', unsupported)
  assert.equal(failed.status?.phase, 'Failed')
  assert.match(
    versionIn(failed, 'v1').message ?? '',
    /needs Kubernetes 1\.33 or newer with the feature gate ImageVolume/,
  )
  await passesThrice()
  assert.equal((await client.list(Pod, { namespace: into })).items.length, 0)
  await change(at('/opt/model'))
  await reaches('Running')
})
