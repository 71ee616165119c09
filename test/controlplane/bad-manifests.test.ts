/** Mistakes in manifests: each is rejected, or reported in the status, with the field and the fix. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { modelDeployments, trainingJobs } from '../../src/api/kinds.ts'
import type { Resource } from '../../src/kube/object.ts'
import { badManifests } from '../builders/bad-manifests.ts'
import type { Manifest } from '../builders/manifests.ts'
import { modelDeployment } from '../builders/model-deployment.ts'
import { trainingJob } from '../builders/training-job.ts'
import { apiCluster } from '../cluster/api-cluster.ts'
import { namespace } from '../cluster/shared-cluster.ts'
import { Kubelet } from '../fakes/kubelet.ts'
import { FakeRouters, servingOutcome } from '../fakes/routers.ts'
import { assertRejected, placed, rejectionBy } from '../fixtures/admission.ts'
import { startOperator } from '../operator/operator.ts'
import { startServing } from '../operator/serving-operator.ts'
import { until } from '../timing/until.ts'

const { cluster, client, node } = await apiCluster()

test('the list has at least 40 mistakes, each once', () => {
  const named = badManifests.map(
    ({ complete, what }) => `${complete.manifest.apiVersion} ${complete.manifest.kind} ${what}`,
  )
  assert.ok(named.length >= 40)
  assert.equal(new Set(named).size, named.length)
})

describe('is rejected with the field and the fix', () => {
  for (const { what, complete, change, field, fix } of badManifests) {
    const { resource, manifest } = complete
    test(`${manifest.kind}: ${what}`, async () => {
      const spec = JSON.parse(JSON.stringify({ ...manifest.spec, ...change })) as object
      await assertRejected(what, rejectionBy(client, resource, placed(manifest, 'default', spec)), field, fix)
    })
  }
})

interface Reported {
  readonly what: string
  readonly resource: Resource<Manifest>
  readonly manifest: (into: string) => object
  /** Words of the status: the reason, the field and the fix. */
  readonly words: readonly string[]
}

const model = (what: string, spec: object, ...words: string[]): Reported => ({
  what,
  resource: modelDeployments,
  manifest: (into) => modelDeployment(into, 'bad', spec),
  words,
})

const job = (what: string, spec: object, ...words: string[]): Reported => ({
  what,
  resource: trainingJobs,
  manifest: (into) => trainingJob(into, 'bad', { numWorkers: 1, ...spec }),
  words,
})

/** What the API server cannot know: it depends on other objects or on the settings of the operator. */
const reported: readonly Reported[] = [
  model('an unknown runtime', { runtime: 'tgi' }, 'RuntimeNotFound', 'spec.runtime', 'no ModelServer tgi', 'vllm'),
  model(
    'a single file for a server of directories',
    { runtime: 'vllm', versions: [{ name: 'v1', weight: 100, modelPath: 's3://models/llama.gguf' }] },
    'ModelPathInvalid',
    'modelPath of v1',
    'write the path of the directory',
  ),
  model(
    'a Gateway that the namespace may not use',
    { traffic: { gateways: ['infra/public'], hostnames: ['a.example.com'] } },
    'GatewayNotAllowed',
    'spec.traffic.gateways: infra/public',
    'a Gateway of this namespace',
  ),
  model(
    'a hostname that the namespace may not use',
    { traffic: { gateways: ['public'], hostnames: ['bank.example.com'] } },
    'HostnameNotAllowed',
    'spec.traffic.hostnames: bank.example.com',
    '*.models.example.com',
  ),
  model(
    'a provider that the cluster lacks',
    { traffic: { provider: 'istio' } },
    'ProviderUnavailable',
    'spec.traffic.provider',
    'choose another provider',
  ),
  job(
    'a PriorityClass that does not exist',
    { scheduling: { priorityClassName: 'none' } },
    'create the PriorityClass none',
    'spec.scheduling.priorityClassName',
  ),
  job(
    'a ServiceAccount that does not exist',
    { serviceAccountName: 'none' },
    'create the ServiceAccount none',
    'spec.serviceAccountName',
  ),
  job(
    'a claim that does not exist',
    { dataVolume: { claimName: 'none' }, checkpoint: { enabled: false } },
    'VolumeNotFound',
    'none',
    'dataVolume',
  ),
]

const CONFIG = {
  allowedGateways: [{ namespaces: ['elsewhere'], gateways: ['infra/*'] }],
  allowedHostnames: [{ namespaces: ['*'], hostnames: ['*.models.example.com'] }],
}

describe('is reported in the status with the field and the fix', () => {
  for (const { what, resource, manifest, words } of reported)
    test(what, async (t) => {
      const into = await namespace(t)
      const operators = [
        startServing({ cluster, namespace: into, config: CONFIG, readReports: new FakeRouters().read }),
        startOperator({ cluster, namespace: into }),
      ]
      // Servers become ready: a pod without a node would be reported first.
      const isModel = resource.kind === 'ModelDeployment'
      const kubelets = isModel
        ? [new Kubelet({ client, namespace: into, node: node.name, decide: servingOutcome() })]
        : []
      t.after(() => Promise.all([...operators, ...kubelets].map((running) => running.stop())))
      await client.create(resource, manifest(into) as Manifest)
      let status = ''
      await until(`the status to have ${words.join(', ')}`, async () => {
        const found = (await client.get(resource, { namespace: into, name: 'bad' })) as { readonly status?: object }
        status = JSON.stringify(found.status ?? {})
        return words.every((word) => status.includes(word))
      }).catch((error: unknown) => assert.fail(`${String(error)}: ${status}`))
    })
})
