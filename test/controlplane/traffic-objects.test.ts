/** A real API server accepts and keeps the objects of every traffic provider, and admits router pods under `restricted`. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createClient, type Client } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import { apiVersionOf, type KubeObject, type Resource } from '../../src/kube/object.ts'
import { ConfigMap, Deployment, Namespace, Pod, PodDisruptionBudget } from '../../src/kube/resources.ts'
import { ROLE_LABEL } from '../../src/plan/model-names.ts'
import { defaultTrafficConfig, providers, type TrafficTarget } from '../../src/plan/traffic/index.ts'
import { HTTPRoute } from '../../src/plan/traffic/providers/gateway/kinds.ts'
import { DestinationRule, VirtualService } from '../../src/plan/traffic/providers/istio/kinds.ts'
import { drift } from '../../src/runtime/intent.ts'
import { type ControlPlane, startControlPlane } from '../../testenv/control-plane.ts'
import { installTrafficKinds } from '../cluster/traffic-crds.ts'
import { NOTHING } from '../contracts/traffic-provider.ts'
import { until } from '../timing/until.ts'

const NAMESPACE = 'models'
const resources: readonly Resource[] = [
  ConfigMap,
  Deployment,
  PodDisruptionBudget,
  VirtualService,
  DestinationRule,
  HTTPRoute,
]

const target = (weight: number, exposed: boolean): TrafficTarget => ({
  name: 'sentiment',
  namespace: NAMESPACE,
  labels: { app: 'sentiment', 'modeldeployment.ml.example.com/model-uid': '5b1c' },
  port: 8080,
  backends: [
    { version: 'v1', service: 'sentiment-v1', weight: 100 - weight },
    { version: 'v2', service: 'sentiment-v2', weight },
  ],
  primary: 'v1',
  wanted: new Map([
    ['v1', 100 - weight],
    ['v2', weight],
  ]),
  recorded: new Map(),
  config: defaultTrafficConfig,
  ...(exposed && { gateways: ['public'], hostnames: ['sentiment.example.com'] }),
})

const resourceOf = (object: KubeObject): Resource => {
  const found = resources.find(
    ({ kind, ...rest }) => kind === object.kind && apiVersionOf({ kind, ...rest }) === object.apiVersion,
  )
  assert.ok(found, `${object.kind} is a kind that the reconciler knows`)
  return found
}

/** The generation, which changes with the spec only; the resourceVersion for kinds without one. */
const revisionOf = ({ metadata }: KubeObject) => metadata.generation ?? metadata.resourceVersion

describe('objects of the traffic providers', () => {
  let plane: ControlPlane
  let client: Client

  before(async () => {
    plane = await startControlPlane()
    client = createClient(await configFromKubeconfig(plane.kubeconfig))
    await installTrafficKinds(client)
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
    await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE, labels } })
  })

  after(async () => {
    await client?.close()
    await plane?.stop()
  })

  for (const provider of providers.all) {
    for (const exposed of [false, true]) {
      test(`${provider.name}${exposed ? ' behind a gateway' : ''}: accepted unchanged, and applied again without a change`, async () => {
        for (const weight of [0, 10, 100]) {
          const { apply } = provider.render(target(weight, exposed), NOTHING)
          for (const object of apply) {
            const first = await client.apply(resourceOf(object), object, { force: true })
            assert.deepEqual(drift(object, first), [])
            const second = await client.apply(resourceOf(object), object, { force: true })
            assert.equal(revisionOf(second), revisionOf(first))
          }
        }
      })
    }
  }

  test('the router pods pass Pod Security restricted', async () => {
    const { apply } = providers.of('router').render(target(10, false), NOTHING)
    for (const object of apply) await client.apply(resourceOf(object), object, { force: true })
    const pods = await until('two router pods', async () => {
      const { items } = await client.list(Pod, { namespace: NAMESPACE, labelSelector: `${ROLE_LABEL}=router` })
      return items.length === defaultTrafficConfig.routerReplicas && items
    })
    assert.ok(pods.every(({ spec }) => spec?.containers.every((one) => one.securityContext?.readOnlyRootFilesystem)))
  })
})
