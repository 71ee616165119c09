/**
 * The operator as users install it: in the cluster, from the image of its Dockerfile, with its ServiceAccount, by chart and by
 * kustomize.
 */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { OPERATOR_IMAGE, operatorImage } from '../../images/operator.ts'
import { trainingJobs } from '../../src/api/kinds.ts'
import { type Client, createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import { CustomResourceDefinition, Lease, Namespace, PersistentVolumeClaim, Pod } from '../../src/kube/resources.ts'
import { runCommand } from '../../testenv/command.ts'
import { provideHelm } from '../../testenv/helm.ts'
import { readmeCommands, ROOT } from '../documents/blocks.ts'
import { type Helm, helmFor } from '../cluster/helm.ts'
import { writeKind } from '../cluster/kind.ts'
import { type NodeCluster, nodeCluster } from '../cluster/node-cluster.ts'
import { archiveFacts } from '../images/archive.ts'
import { loadReporter, REPORTER, reportByHelper, reportByLog } from '../images/reporter.ts'
import { loadTrainers, TRAINER } from '../images/trainer.ts'
import { trainingJob } from '../builders/training-job.ts'
import { until } from '../timing/until.ts'

const CHART = join(ROOT, 'charts', 'ml-operator')
const ARCHIVE = join(ROOT, 'dist', 'images', 'operator.tar')
const SYSTEM = 'ml-operator-system'
const TEAM = 'install-team'
const SMALL = { requests: { cpu: '10m', memory: '16Mi' }, limits: { cpu: '1', memory: '64Mi' } }
const MINUTES = 3 * 60_000

let cluster: NodeCluster
let client: Client
let helm4: Helm

async function restrictedNamespace(name: string): Promise<void> {
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
  await client.apply(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }, { force: true })
  await cluster.kubectl('wait', '-n', name, '--for=create', 'serviceaccount/default', '--timeout=60s')
}

const podsIn = async (namespace: string): Promise<readonly Pod[]> => (await client.list(Pod, { namespace })).items
const uids = (pods: readonly Pod[]): string[] => pods.map(({ metadata }) => metadata.uid ?? '').toSorted()

/** Waits until both replicas of the operator are ready and one of them leads. */
async function waitUntilUp(): Promise<void> {
  await cluster.kubectl('-n', SYSTEM, 'rollout', 'status', 'deployment/ml-operator', '--timeout=180s')
  await until('one of the replicas to lead', async () => {
    const { spec } = await client.get(Lease, { namespace: SYSTEM, name: 'ml-operator' })
    const names = (await podsIn(SYSTEM)).map(({ metadata }) => metadata.name)
    return names.some((name) => spec?.holderIdentity?.includes(name))
  })
}

async function reaches(name: string, state: string): Promise<void> {
  await until(
    `${name} to be ${state}`,
    async () => (await client.get(trainingJobs, { namespace: TEAM, name })).status?.state === state,
    MINUTES,
  )
}

async function start(name: string): Promise<void> {
  const storage = { size: '16Mi' }
  const spec = { image: TRAINER, command: ['python', 'wait'], resources: SMALL, checkpoint: { storage } }
  await client.create(trainingJobs, trainingJob(TEAM, name, spec))
  await reaches(name, 'Running')
}

async function finish(name: string): Promise<void> {
  await until('the master to be signalled', async () => {
    await cluster.kubectl('exec', '-n', TEAM, `${name}-workers-0`, '--', 'touch', '/tmp/go')
    return true
  })
  await reaches(name, 'Completed')
}

/** Runs commands of the README in the root of the repository, with Helm 3 and kubectl. npm packages are not installed again. */
async function runReadme(commands: string): Promise<string> {
  const bin = await mkdtemp(join(tmpdir(), 'bin-'))
  try {
    await symlink(await provideHelm(3), join(bin, 'helm'))
    await symlink(cluster.binaries.path('kubectl'), join(bin, 'kubectl'))
    await writeKind(bin, cluster)
    const PATH = `${bin}:${process.env['PATH']}`
    const MAKEFLAGS = '--old-file=node_modules/.package-lock.json'
    const env = { ...process.env, PATH, MAKEFLAGS, KUBECONFIG: cluster.kubeconfig }
    return await runCommand(['bash', '-euc', `cd '${ROOT}'\n${commands}`], { env })
  } finally {
    await rm(bin, { recursive: true })
  }
}

async function removeCrds(): Promise<void> {
  const { items } = await client.list(CustomResourceDefinition, {
    labelSelector: 'app.kubernetes.io/part-of=ml-operator',
  })
  for (const { metadata } of items) {
    await client.delete(CustomResourceDefinition, { name: metadata.name })
    await cluster.kubectl('wait', '--for=delete', `crd/${metadata.name}`, '--timeout=120s')
  }
}

describe('the operator in the cluster', () => {
  before(async () => {
    cluster = await nodeCluster()
    client = createClient(await configFromKubeconfig(cluster.kubeconfig))
    helm4 = await helmFor(4, cluster.kubeconfig)
    await loadTrainers()
    await loadReporter()
    await removeCrds()
    for (const name of [SYSTEM, TEAM]) await restrictedNamespace(name)
  })

  after(async () => {
    for (const name of [TEAM, SYSTEM]) await client.delete(Namespace, { name })
    await client.close()
  })

  test('the commands for kind: both replicas run the image of the Dockerfile under Pod Security restricted', async () => {
    const [commands = ''] = readmeCommands('On kind')
    const printed = await runReadme(commands)
    assert.match(printed, /kubectl api-resources --categories ml/, 'the notes describe the next steps')
    await waitUntilUp()
    const { id } = await archiveFacts(ARCHIVE)
    const pods = await podsIn(SYSTEM)
    for (const { status } of pods) assert.equal(status?.containerStatuses?.[0]?.imageID, id)
    const [pod] = pods
    assert.equal(pod?.spec?.serviceAccountName, 'ml-operator')
    assert.equal(pod.spec.containers[0]?.securityContext?.readOnlyRootFilesystem, true)
  })

  test('helm test trains and serves a tiny model, and leaves nothing', async () => {
    const printed = await helm4('test', 'ml-operator', '-n', SYSTEM, '--logs', '--timeout=5m')
    assert.match(printed, /training: Completed/)
    assert.match(printed, /the model predicts 7\.000 for 3: the installation trains and serves/)
    const kinds = 'trainingjobs,modeldeployments.ml.example.com,modelservers,roles,rolebindings,serviceaccounts'
    const left = await cluster.kubectl('-n', SYSTEM, 'get', kinds, '-o=name')
    assert.doesNotMatch(left, /ml-operator-test/)
    await until('the claim to be deleted', async () => {
      const { items } = await client.list(PersistentVolumeClaim, { namespace: SYSTEM })
      return items.length === 0
    })
  })

  test('the image of the Dockerfile has the files that the description of the image lists', async () => {
    const { names, paths } = await archiveFacts(ARCHIVE)
    assert.deepEqual(names, [`docker.io/library/${OPERATOR_IMAGE}`])
    const isLibrary = (path: string): boolean => /^(\/usr)?\/lib(64)?\//.test(path)
    const files = paths.filter((path) => !isLibrary(path))
    assert.deepEqual(files.toSorted(), Object.keys(operatorImage().files ?? {}).toSorted())
    const libraries = paths.filter(isLibrary).join('\n')
    for (const name of ['libc.so.6', 'libgcc_s.so.1', 'libstdc++.so.6']) assert.ok(libraries.includes(`/${name}`), name)
  })

  test('the commands for a registry: the archive is pushed, with a directory as the registry', async (t) => {
    const store = await mkdtemp(join(tmpdir(), 'registry-'))
    t.after(() => rm(store, { recursive: true }))
    const [commands = ''] = readmeCommands('From your registry')
    const pushed = commands.split('\n').filter((line) => line.startsWith('buildah '))
    assert.equal(pushed.length, 2)
    const here = pushed.map((line) =>
      line
        .replace('buildah', `buildah --root=${store}/root --runroot=${store}/run --storage-driver=overlay`)
        .replace(/docker:\/\/\S+$/, `dir:${store}/pushed`),
    )
    await runReadme(here.join('\n'))
    const manifest = JSON.parse(await readFile(join(store, 'pushed', 'manifest.json'), 'utf8')) as {
      readonly config: { readonly digest: string }
    }
    assert.equal(manifest.config.digest, (await archiveFacts(ARCHIVE)).id)
  })

  test('a worker reports by the Service of the operator with the Python helper; the log of another is read', async () => {
    const sources = { Report: reportByHelper, Log: reportByLog }
    const resources = { ...SMALL, limits: { cpu: '1', memory: '128Mi' } }
    const spec = { image: REPORTER, numWorkers: 1, resources, checkpoint: { enabled: false } }
    const names = Object.keys(sources).map((source) => source.toLowerCase())
    for (const [source, command] of Object.entries(sources))
      await client.create(trainingJobs, trainingJob(TEAM, source.toLowerCase(), { ...spec, command: [...command] }))
    const shows = (progress: string, metrics: object) =>
      Promise.all(
        Object.keys(sources).map((source) =>
          until(
            `${progress} by ${source}`,
            async () => {
              const { status } = await client.get(trainingJobs, { namespace: TEAM, name: source.toLowerCase() })
              if (status?.progress !== progress) return false
              assert.deepEqual([status.lastReport?.source, status.metrics], [source, metrics])
              return true
            },
            MINUTES,
          ),
        ),
      )
    await shows('50%', { loss: 0.5, lr: 0.1 })
    for (const name of names) await cluster.kubectl('exec', '-n', TEAM, `${name}-workers-0`, '--', 'touch', '/tmp/go')
    await shows('75%', { loss: 0.25, lr: 0.1 })
    await cluster.kubectl('-n', TEAM, 'delete', 'trainingjob', ...names, '--timeout=120s')
  })

  test('an upgrade of the operator, by another Helm, does not affect running workers', async () => {
    await start('upgraded')
    const workers = uids(await podsIn(TEAM))
    const operators = uids(await podsIn(SYSTEM))
    await helm4('upgrade', 'ml-operator', CHART, '-n', SYSTEM, '--set=logLevel=debug')
    await waitUntilUp()
    await until('the old replicas to be gone', async () =>
      (await podsIn(SYSTEM)).every(({ metadata }) => !operators.includes(metadata.uid ?? '')),
    )
    assert.deepEqual(uids(await podsIn(TEAM)), workers)
    await finish('upgraded')
  })

  test('the API server reaches the conversion webhook by its Service', async () => {
    const asked = ['get', '-n', TEAM, 'trainingjobs.v1alpha1.ml.example.com/upgraded', '-o=jsonpath={.status.phase}']
    assert.equal(await until('an answer', () => cluster.kubectl(...asked)), 'Succeeded')
  })

  test('helm uninstall keeps CRDs, jobs and checkpoints', async () => {
    await helm4('uninstall', 'ml-operator', '-n', SYSTEM, '--wait')
    const { metadata } = await client.get(trainingJobs, { namespace: TEAM, name: 'upgraded' })
    assert.equal(metadata.deletionTimestamp, undefined)
    await client.get(PersistentVolumeClaim, { namespace: TEAM, name: 'upgraded-checkpoints' })
    await assert.rejects(cluster.kubectl('-n', SYSTEM, 'get', 'deployment', 'ml-operator'), /not found/)
  })

  test('kubectl apply -k: the same operator, which continues with the existing jobs', async () => {
    await cluster.kubectl('apply', '-k', join(ROOT, 'config', 'base'))
    await waitUntilUp()
    await cluster.kubectl('-n', TEAM, 'delete', 'trainingjob', 'upgraded', '--timeout=120s')
    await client.get(PersistentVolumeClaim, { namespace: TEAM, name: 'upgraded-checkpoints' })
    await cluster.kubectl('delete', '-k', join(ROOT, 'config', 'manager'))
    await cluster.kubectl('delete', '-k', join(ROOT, 'config', 'rbac'))
  })
})
