/** The chart and the kustomize base install the same objects. For single values of the chart see chart-values.test.ts. */
import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { writeOverlay } from '../../scripts/install/overlay.ts'
import type { KubeObject } from '../../src/kube/object.ts'
import type { Deployment } from '../../src/kube/resources.ts'
import { kubernetes } from '../../testenv/assets.ts'
import { provideBinaries } from '../../testenv/binaries.ts'
import { runCommand } from '../../testenv/command.ts'
import { objectsOf, rendered } from '../cluster/chart.ts'

const ROOT = join(import.meta.dirname, '..', '..')

/** Which release of which chart an object belongs to; kustomize has neither. */
const OF_HELM = [
  'app.kubernetes.io/managed-by',
  'app.kubernetes.io/instance',
  'app.kubernetes.io/version',
  'helm.sh/chart',
]

const DIGEST = `sha256:${'0123456789abcdef'.repeat(4)}`

type Json = Readonly<Record<string, unknown>>

function withoutHelm(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutHelm)
  if (value === null || typeof value !== 'object') return value
  const entries = Object.entries(value as Json)
    .filter(([name]) => !OF_HELM.includes(name))
    .filter(([name, inner]) => !(name === 'annotations' && 'helm.sh/resource-policy' in (inner as Json)))
  return Object.fromEntries(entries.map(([name, inner]) => [name, withoutHelm(inner)]))
}

async function kustomized(folder: string): Promise<Map<string, KubeObject>> {
  const kubectl = (await provideBinaries([kubernetes])).path('kubectl')
  return objectsOf(await runCommand([kubectl, 'kustomize', join(ROOT, 'config', folder)]))
}

async function charted(major: 3 | 4, ...flags: string[]): Promise<Map<string, KubeObject>> {
  return objectsOf(await rendered(major, '--skip-tests', ...flags))
}

for (const major of [3, 4] as const) {
  test(`Helm ${major}: the chart renders the same objects as kustomize`, async () => {
    const base = await kustomized('base')
    base.delete('Namespace/ml-operator-system') // Helm makes it, with --create-namespace
    const chart = await charted(major)
    assert.deepEqual([...chart.keys()].toSorted(), [...base.keys()].toSorted())
    for (const [name, object] of base) {
      const shown = withoutHelm(chart.get(name)) as KubeObject
      const metadata = { ...shown.metadata, labels: { ...shown.metadata.labels, ...object.metadata.labels } }
      assert.deepEqual({ ...shown, metadata }, withLabels(object, metadata.labels), name)
    }
  })
}

function withLabels(object: KubeObject, labels: Record<string, string>): KubeObject {
  return { ...object, metadata: { ...object.metadata, labels } }
}

test('has permissions in one namespace only when bound to it', async () => {
  const chart = await charted(4, '--set=watchNamespaces={team}')
  const rules = (name: string): unknown => (chart.get(name) as KubeObject & { rules: unknown }).rules
  const cluster = await kustomized('namespaced')
  const kustomize = (name: string): unknown => (cluster.get(name) as KubeObject & { rules: unknown }).rules
  assert.deepEqual(rules('ClusterRole/ml-operator-ml-operator-system'), kustomize('ClusterRole/ml-operator-namespaced'))
  assert.equal(chart.get('Role/ml-operator-watched')?.metadata.namespace, 'team')
  const both = [...(rules('Role/ml-operator') as unknown[]), ...(rules('Role/ml-operator-watched') as unknown[])]
  assert.deepEqual(both, kustomize('Role/ml-operator'))
})

test('rejects unknown chart values by name', async () => {
  await assert.rejects(charted(4, '--set=replica=3'), /replica/)
  await assert.rejects(charted(3, '--set=replicas=0'), /replicas/)
})

test('renders with every value set', async () => {
  const config = `--set-json=config=${JSON.stringify({ training: { user: 2000 } })}`
  const flags = [
    '--set-string=image.tag=9',
    '--set=webhook.enabled=false',
    '--set=crds.install=false',
    '--set=replicas=1',
  ]
  const chart = await charted(4, config, '--set=logLevel=debug', '--set=concurrency=4', ...flags)
  const text = JSON.stringify(chart.get('Deployment/ml-operator'))
  for (const said of ['ml-operator:9', '--no-webhook', '--log-level=debug', '--concurrency=4', '/etc/ml-operator'])
    assert.ok(text.includes(said), said)
  assert.deepEqual(
    [...chart.keys()].filter((name) => /^(CustomResource|PodDisruption)/.test(name)),
    [],
  )
})

for (const [image, expected] of [
  ['r.example.com:5000/team/ml-operator:9', 'r.example.com:5000/team/ml-operator:9'],
  [`r.example.com/ops:9@${DIGEST}`, `r.example.com/ops@${DIGEST}`],
] as const) {
  test(`make deploy installs ${image}, also for agents`, async (t) => {
    const folder = `test-${process.pid}`
    t.after(() => rm(join(ROOT, 'config', folder), { recursive: true, force: true }))
    writeOverlay(image, folder)
    const { spec } = (await kustomized(folder)).get('Deployment/ml-operator') as Deployment
    const [container] = spec?.template.spec?.containers ?? []
    const agent = container?.env?.find(({ name }) => name === 'AGENT_IMAGE')?.value
    assert.deepEqual([container?.image, agent], [expected, expected])
  })
}

test('make deploy rejects an image without a tag', () => {
  for (const image of ['', 'r.example.com:5000/ml-operator'])
    assert.throws(() => writeOverlay(image, 'unused'), /must be an image with a tag or a digest/)
})
