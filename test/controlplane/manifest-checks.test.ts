/** kubeconform and kube-score accept the chart and the outputs of kustomize. Exceptions are in config/kube-score-exceptions.yaml. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { parse } from 'yaml'
import { kubeconform, kubernetes, kubeScore } from '../../testenv/assets.ts'
import { type Binaries, provideBinaries } from '../../testenv/binaries.ts'
import { runCommand } from '../../testenv/command.ts'
import { provideCrd } from '../../testenv/crds.ts'
import { rendered } from '../cluster/chart.ts'
import { sharedCluster } from '../cluster/shared-cluster.ts'
import { schemaLocation, writeSchemas } from '../manifests/schemas.ts'

const CONFIG = join(import.meta.dirname, '..', '..', 'config')
const KUSTOMIZED = ['base', 'namespaced', 'overlays/with-monitoring', 'network-policy-models', 'admission']
const EVERYTHING = [
  'monitoring.enabled',
  'monitoring.modelServers',
  'monitoring.trainers',
  'networkPolicy.enabled',
  'metrics.authentication',
]
const MONITORS = ['servicemonitors', 'podmonitors', 'prometheusrules']

interface Exception {
  readonly check: string
  /** `Deployment/ml-operator`. */
  readonly objects: readonly string[]
  readonly reason: string
}

interface Scored {
  readonly type_meta: { readonly kind: string }
  readonly object_meta: { readonly name: string }
  readonly checks: readonly {
    readonly check: { readonly id: string }
    readonly grade: number
    readonly skipped: boolean
  }[]
}

/** The grade of a check without findings. */
const ALL_OK = 10

let directory: string
let binaries: Binaries

async function manifests(): Promise<Readonly<Record<string, string>>> {
  const folders = KUSTOMIZED.map(async (folder) => {
    const command = [binaries.path('kubectl'), 'kustomize', join(CONFIG, folder)]
    return [`config/${folder}`, await runCommand(command)] as const
  })
  return {
    chart: await rendered(4),
    'chart with all switches': await rendered(4, ...EVERYTHING.map((name) => `--set=${name}=true`)),
    ...Object.fromEntries(await Promise.all(folders)),
  }
}

async function conform(manifest: string): Promise<string> {
  const flags = ['-strict', '-summary', '-schema-location', schemaLocation(directory), '-']
  return runCommand([binaries.path('kubeconform'), ...flags], { input: manifest })
}

/** The findings as `check object`. None for manifests with kinds that it does not know. */
async function score(manifest: string): Promise<string[]> {
  // It exits with 1 if it finds something.
  const script = '"$0" score --output-format=json --kubernetes-version=v1.36 - || [ $? = 1 ]'
  const output = await runCommand(['sh', '-c', script, binaries.path('kube-score')], { input: manifest })
  return ((JSON.parse(output) as Scored[] | null) ?? []).flatMap(({ type_meta, object_meta, checks }) =>
    checks
      .filter(({ grade, skipped }) => !skipped && grade < ALL_OK)
      .map(({ check }) => `${check.id} ${type_meta.kind}/${object_meta.name}`),
  )
}

describe('the manifests', () => {
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'schemas-'))
    binaries = await provideBinaries([kubernetes, kubeconform, kubeScore])
    const crds = await Promise.all(MONITORS.map((kind) => provideCrd(`${kind}.monitoring.coreos.com`)))
    await writeSchemas(directory, (await sharedCluster()).client, crds)
  })

  after(() => rm(directory, { recursive: true }))

  test('have the fields of their kinds, by kubeconform', async () => {
    const all = Object.values(await manifests()).join('\n---\n')
    assert.match(await conform(all), /Invalid: 0, Errors: 0, Skipped: 0/)
  })

  test('kubeconform finds an unknown field and a wrong type', async () => {
    const service = (spec: string): string =>
      `{"apiVersion":"v1","kind":"Service","metadata":{"name":"a"},"spec":${spec}}`
    await conform(service('{"type":"ClusterIP"}'))
    await assert.rejects(conform(service('{"typo":"ClusterIP"}')), /typo/)
    await assert.rejects(conform(service('{"type":1}')), /type/)
  })

  test('follow the recommendations of kube-score, or have a reason not to', async () => {
    const exceptions = parse(await readFile(join(CONFIG, 'kube-score-exceptions.yaml'), 'utf8')) as Exception[]
    const excused = exceptions.flatMap(({ check, objects }) => objects.map((object) => `${check} ${object}`))
    for (const { check, reason } of exceptions) assert.ok(reason.length > 20, check)
    const found = new Set<string>()
    for (const [name, manifest] of Object.entries(await manifests())) {
      const findings = await score(manifest)
      assert.deepEqual(
        findings.filter((finding) => !excused.includes(finding)),
        [],
        name,
      )
      for (const finding of findings) found.add(finding)
    }
    assert.deepEqual(
      excused.filter((finding) => !found.has(finding)),
      [],
      'exceptions without a finding',
    )
  })
})
