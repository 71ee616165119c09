/** The objects of the monitoring kit: by Helm, by kustomize, and as the CRDs of the Prometheus operator see them. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import type { KubeObject } from '../../src/kube/object.ts'
import { CustomResourceDefinition } from '../../src/kube/resources.ts'
import { kubernetes } from '../../testenv/assets.ts'
import { provideBinaries } from '../../testenv/binaries.ts'
import { runCommand } from '../../testenv/command.ts'
import { provideCrd } from '../../testenv/crds.ts'
import { objectsOf, rendered, setting } from '../cluster/chart.ts'
import { namespace, sharedCluster } from '../cluster/shared-cluster.ts'
import { until } from '../timing/until.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const KINDS = ['servicemonitors', 'podmonitors', 'prometheusrules']
const OWN = /^(ServiceMonitor|PodMonitor|PrometheusRule|ConfigMap)\//

type Content = KubeObject & { readonly spec?: unknown; readonly data?: unknown }

async function kubectl(...args: string[]): Promise<string> {
  return runCommand([(await provideBinaries([kubernetes])).path('kubectl'), ...args])
}

const charted = async (...flags: string[]) => objectsOf(await rendered(4, '--set=monitoring.enabled=true', ...flags))
const overlay = async () => objectsOf(await kubectl('kustomize', join(ROOT, 'config/overlays/with-monitoring')))
const ownOf = (all: ReadonlyMap<string, KubeObject>) => [...all].filter(([name]) => OWN.test(name))

test('Helm and kustomize install the same objects', async () => {
  const [chart, base] = [await charted(), await overlay()]
  assert.deepEqual(
    ownOf(chart)
      .map(([name]) => name)
      .toSorted(),
    ownOf(base)
      .map(([name]) => name)
      .toSorted(),
  )
  for (const [name, object] of ownOf(base)) {
    const { spec, data } = chart.get(name) as Content
    assert.deepEqual({ spec, data }, { spec: (object as Content).spec, data: (object as Content).data }, name)
  }
})

test('each value switches its objects', async () => {
  const names = async (...flags: string[]) => ownOf(await charted(...flags)).map(([name]) => name)
  assert.equal(ownOf(objectsOf(await rendered(4))).length, 0)
  assert.ok(!(await names('--set=monitoring.rules=false')).includes('PrometheusRule/ml-operator'))
  assert.ok(!(await names('--set=monitoring.dashboards=false')).some((name) => name.startsWith('ConfigMap/')))
  const more = await names('--set=monitoring.modelServers=true', '--set=monitoring.trainers=true')
  for (const name of ['routers', 'models', 'trainers']) assert.ok(more.includes(`PodMonitor/ml-operator-${name}`), name)
})

test('labels, interval, namespaces and the token of the scrapes', async () => {
  const all = await charted(
    setting('monitoring.labels', { release: 'prometheus' }),
    '--set=monitoring.interval=10s',
    '--set=watchNamespaces={a,b}',
    '--set=metrics.authentication=true',
  )
  for (const [, { metadata }] of ownOf(all)) assert.equal(metadata.labels?.['release'], 'prometheus')
  const service = JSON.stringify(all.get('ServiceMonitor/ml-operator'))
  for (const said of ['"interval":"10s"', '"honorLabels":true', '"bearerTokenFile"']) assert.ok(service.includes(said))
  assert.ok(JSON.stringify(all.get('PodMonitor/ml-operator-routers')).includes('"matchNames":["a","b"]'))
  await assert.rejects(rendered(4, '--set=monitoring.interval=often'), /interval/)
})

test('authentication of metrics adds its flag, its permissions and a role for readers, and only on request', async () => {
  const rules = JSON.stringify((await charted('--set=metrics.authentication=true')).get('ClusterRole/ml-operator'))
  assert.ok(rules.includes('tokenreviews') && rules.includes('subjectaccessreviews'))
  const text = await rendered(4, '--set=metrics.authentication=true')
  assert.ok(text.includes('--metrics-auth') && objectsOf(text).has('ClusterRole/ml-operator-metrics-reader'))
  // Progress reports of pods need token reviews as well.
  assert.doesNotMatch(await rendered(4), /--metrics-auth|subjectaccessreviews|forMetricsAuth/)
  assert.doesNotMatch(await rendered(4, '--set=reports.enabled=false'), /tokenreviews/)
})

test('the API server accepts the objects', async (t) => {
  const { kubeconfig, client } = await sharedCluster()
  const ns = await namespace(t)
  for (const kind of KINDS) {
    const crd = parse(
      await readFile(await provideCrd(`${kind}.monitoring.coreos.com`), 'utf8'),
    ) as CustomResourceDefinition
    await client.apply(CustomResourceDefinition, crd, { force: true })
    await until(`${kind} to be served`, async () => {
      const { status } = await client.get(CustomResourceDefinition, { name: crd.metadata.name })
      return status?.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True')
    })
  }
  const more = [
    '--set=monitoring.modelServers=true',
    '--set=monitoring.trainers=true',
    '--set=metrics.authentication=true',
  ]
  for (const [, object] of ownOf(await charted(...more))) {
    const manifest = JSON.stringify({ ...object, metadata: { ...object.metadata, namespace: ns } })
    const flags = [`--kubeconfig=${kubeconfig}`, '--server-side', '--dry-run=server', '--validate=strict', '-f', '-']
    const command = [(await provideBinaries([kubernetes])).path('kubectl'), 'apply', ...flags]
    await until('the kind to be discovered', () => runCommand(command, { input: manifest }))
  }
})
