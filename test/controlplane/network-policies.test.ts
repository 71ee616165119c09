/** The NetworkPolicies of chart and kustomize, as the API server accepts them. No network plugin enforces them here. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { KubeObject } from '../../src/kube/object.ts'
import { kubernetes } from '../../testenv/assets.ts'
import { provideBinaries } from '../../testenv/binaries.ts'
import { runCommand } from '../../testenv/command.ts'
import { documentsOf, rendered, setting, SYSTEM } from '../cluster/chart.ts'
import { namespace, sharedCluster } from '../cluster/shared-cluster.ts'

const CONFIG = join(import.meta.dirname, '..', '..', 'config')
const isPolicy = ({ kind }: KubeObject): boolean => kind === 'NetworkPolicy'

async function charted(...flags: string[]): Promise<KubeObject[]> {
  return documentsOf(await rendered(4, '--skip-tests', ...flags)).filter(isPolicy)
}

async function kustomized(folder: string): Promise<KubeObject[]> {
  const kubectl = (await provideBinaries([kubernetes])).path('kubectl')
  return documentsOf(await runCommand([kubectl, 'kustomize', join(CONFIG, folder)]))
}

const specsOf = (objects: readonly KubeObject[]): unknown[] =>
  objects.map((object) => (object as KubeObject & { readonly spec: unknown }).spec)

const placesOf = (objects: readonly KubeObject[]): string[] =>
  objects.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`).toSorted()

test('the chart has no policies by default, and those of kustomize on request', async () => {
  assert.deepEqual(await charted(), [])
  const [operator, ...models] = await charted(
    '--set=networkPolicy.enabled=true',
    '--set=watchNamespaces={team-a,team-b}',
  )
  assert.ok(operator)
  const policies = documentsOf(await runCommand(['cat', join(CONFIG, 'network-policy', 'policy.yaml')]))
  assert.deepEqual(specsOf([operator]), specsOf(policies))
  assert.deepEqual(specsOf(models.slice(0, 2)), specsOf(await kustomized('network-policy-models')))
  const expected = ['team-a', 'team-b'].flatMap((team) => [
    `${team}/ml-operator-proxies`,
    `${team}/ml-operator-servers`,
  ])
  assert.deepEqual(placesOf(models), expected)
  assert.deepEqual(placesOf([operator]), [`${SYSTEM}/ml-operator`])
})

test('a second operator selects its own pods, and can have further egress rules', async () => {
  const rule = { ports: [{ port: 4318, protocol: 'TCP' }] }
  const flags = ['--set=networkPolicy.enabled=true', '--set=fullnameOverride=second']
  const [policy] = await charted(...flags, setting('networkPolicy.extraEgress', [rule]))
  const text = JSON.stringify(policy)
  assert.match(
    text,
    /"podSelector":\{"matchLabels":\{"app.kubernetes.io\/instance":"ml-operator","app.kubernetes.io\/name":"ml-operator"\}\}/,
  )
  assert.match(text, /4318/)
})

test('the API server accepts them', async (t) => {
  const ns = await namespace(t)
  const { client } = await sharedCluster()
  const resource = {
    group: 'networking.k8s.io',
    version: 'v1',
    kind: 'NetworkPolicy',
    plural: 'networkpolicies',
    namespaced: true,
  }
  for (const object of await charted('--set=networkPolicy.enabled=true', '--set=watchNamespaces={team-a}'))
    await client.create(resource, { ...object, metadata: { ...object.metadata, namespace: ns } })
})
