/** The acceptance manifests, applied unchanged to a cluster with the operator as a process. */
import assert from 'node:assert/strict'
import { basename } from 'node:path'
import { test } from 'node:test'
import { mlopsModelDeployments, modelDeployments } from '../../src/api/kinds.ts'
import type { ServingStatus } from '../../src/api/serving-status.ts'
import type { KubeObject, ObjectKey } from '../../src/kube/object.ts'
import { Deployment, HorizontalPodAutoscaler, Pod, Service } from '../../src/kube/resources.ts'
import { acceptanceCluster } from '../cluster/acceptance-cluster.ts'
import { manifestsIn } from '../cluster/api.ts'
import { servingOutcome } from '../fakes/routers.ts'
import { until } from '../timing/until.ts'

const NAMESPACES = ['default', 'ml-models']

const { plane, client, operator } = await acceptanceCluster(NAMESPACES, servingOutcome())

const manifests = await manifestsIn('test/acceptance')
const models = manifests.filter(({ objects: [first] }) => first?.kind === 'ModelDeployment')

const keyOf = ({ metadata: { namespace = 'default', name } }: KubeObject): Required<ObjectKey> => ({ namespace, name })
const statusOf = async ({ apiVersion }: KubeObject, key: ObjectKey): Promise<ServingStatus | undefined> =>
  apiVersion.startsWith('mlops')
    ? (await client.get(mlopsModelDeployments, key)).status
    : (await client.get(modelDeployments, key)).status

test('there are ModelDeployments among the manifests', () => assert.equal(models.length, 4))

for (const { file, objects } of models) {
  const [manifest] = objects as [KubeObject]
  const key = keyOf(manifest)
  test(`${basename(file)} is served`, async () => {
    await plane.kubectl('apply', '-f', file)
    const served = await until('the model to run', async () => {
      const status = await statusOf(manifest, key)
      return status?.phase === 'Running' ? status : undefined
    })
    const isReady = served.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')
    assert.ok(isReady)
    await client.get(Deployment, { ...key, name: `${key.name}-deployment` })
    const { spec } = await client.get(Service, { ...key, name: `${key.name}-service` })
    const port = spec?.ports?.[0]?.port ?? 0
    assert.equal(served.url, `http://${key.name}-service.${key.namespace}.svc:${port}`)
    const shown = await plane.kubectl(
      'get',
      `modeldeployments.${manifest.apiVersion.split('/')[0]}`,
      '-n',
      key.namespace,
    )
    assert.match(shown, new RegExp(`${key.name} .*Running`))
    assert.match(shown, / AGE +READY +VERSIONS +RPS +URL/)
    assert.ok(shown.includes(served.url))
  })
}

test('the autoscaler has the bounds of the spec', async () => {
  const key = { namespace: 'ml-models', name: 'sentiment-analysis-hpa' }
  const { spec } = await client.get(HorizontalPodAutoscaler, key)
  assert.equal(spec?.minReplicas, 2)
  assert.equal(spec?.maxReplicas, 10)
  assert.equal(spec?.metrics?.[0]?.resource?.target.averageUtilization, 70)
})

test('leave no pods after they are deleted', async () => {
  for (const { file } of models) await plane.kubectl('delete', '-f', file, '--timeout=60s')
  await until('no pods', async () => (await client.list(Pod)).items.length === 0)
})

test('counts models and validations on /metrics, and stops gracefully', async () => {
  const metrics = await (await fetch(`${operator.url}/metrics`)).text()
  assert.match(metrics, /^model_deployments_created_total 4$/m)
  assert.match(metrics, /^model_validations_total\{status="succeeded"\} 2$/m)
  assert.equal(await operator.stop(), 0)
  assert.doesNotMatch(operator.log(), /"level":"(error|fatal)"/)
})
