/**
 * Measures the memory of 10,000 cached pods: as the server sends them, without managedFields (the default of caches), and trimmed to
 * the fields that a controller reads. Each pod is parsed from its own JSON, as in a watch.
 */
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Pod } from '../src/kube/resources.ts'
import type { WatchUpdate } from '../src/kube/watch.ts'
import { Cache, createLogger } from '../src/runtime/index.ts'
import { Store } from '../src/runtime/store.ts'
import { benchmarkArguments } from './bench/arguments.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const HELP = `Usage: scripts/bench-cache.ts [COUNT]

Measures the memory of cached pods.

  COUNT  pods (10000)`

const [count] = benchmarkArguments(HELP, [10_000])
const log = createLogger({ level: 'silent' })

/** A running worker of a training job as a 1.36 API server returns it: about 6 kB of JSON. */
function podJson(number: number): string {
  const job = `job-${Math.floor(number / 4)}`
  const name = `${job}-workers-${number % 4}`
  const metadata = podMetadata(number, job, name)
  const spec = podSpec(number, job, name)
  return JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata, spec, status: podStatus(number, job) })
}

const TIME = '2030-01-01T00:00:00Z'

function podMetadata(number: number, job: string, name: string) {
  const owner = {
    apiVersion: 'ml.example.com/v1',
    kind: 'TrainingJob',
    name: job,
    uid: `uid-of-${job}-0123456789abcdef`,
  }
  return {
    name,
    namespace: `team-${number % 20}`,
    uid: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
    resourceVersion: String(1_000_000 + number),
    generation: 1,
    creationTimestamp: TIME,
    labels: {
      'app.kubernetes.io/name': job,
      'app.kubernetes.io/managed-by': 'operator',
      'ml.example.com/job': job,
      rank: String(number % 4),
    },
    annotations: { 'commit.runtime/intent': 'Zm9vYmFyYmF6cXV4MTIzNDU2', 'ml.example.com/attempt': '0' },
    ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
    managedFields: [managedFields('operator', fieldsOfSpec), managedFields('kubelet', fieldsOfStatus)],
  }
}

const token = {
  name: 'kube-api-access-x7k2p',
  mountPath: '/var/run/secrets/kubernetes.io/serviceaccount',
  readOnly: true,
}

function podSpec(number: number, job: string, name: string) {
  return {
    hostname: name,
    subdomain: `${job}-workers`,
    nodeName: `node-${number % 100}`,
    restartPolicy: 'Never',
    serviceAccountName: 'default',
    schedulerName: 'default-scheduler',
    dnsPolicy: 'ClusterFirst',
    enableServiceLinks: true,
    priority: 0,
    preemptionPolicy: 'PreemptLowerPriority',
    terminationGracePeriodSeconds: 30,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 65_532,
      fsGroup: 65_532,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    tolerations: ['not-ready', 'unreachable'].map((taint) => ({
      key: `node.kubernetes.io/${taint}`,
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: 300,
    })),
    containers: [podContainer(job)],
    volumes: [
      { name: 'shm', emptyDir: { medium: 'Memory', sizeLimit: '8Gi' } },
      { name: 'checkpoints', persistentVolumeClaim: { claimName: `${job}-checkpoints` } },
      {
        name: token.name,
        projected: { sources: [{ serviceAccountToken: { expirationSeconds: 3607, path: 'token' } }] },
      },
    ],
  }
}

function podContainer(job: string) {
  const limits = { 'nvidia.com/gpu': '1', memory: '16Gi' }
  return {
    name: 'worker',
    image: `registry.example.com/team/${job}:1.2.3`,
    command: ['torchrun', 'train.py'],
    env: Array.from({ length: 20 }, (_, index) => ({ name: `HYPERPARAM_${index}`, value: `${job}-${index}` })),
    ports: [{ name: 'master', containerPort: 29_500, protocol: 'TCP' }],
    resources: { limits, requests: { cpu: '4', ...limits } },
    securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
    volumeMounts: [{ name: 'shm', mountPath: '/dev/shm' }, { name: 'checkpoints', mountPath: '/checkpoints' }, token],
    imagePullPolicy: 'IfNotPresent',
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
  }
}

function podStatus(number: number, job: string) {
  const conditions = ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled']
  const times = { observedGeneration: 1, lastProbeTime: null, lastTransitionTime: TIME }
  const container = {
    name: 'worker',
    ready: true,
    started: true,
    restartCount: 0,
    image: `registry.example.com/team/${job}:1.2.3`,
    imageID: `registry.example.com/team/${job}@sha256:${'0123456789abcdef'.repeat(4)}`,
    containerID: `containerd://${String(number).padStart(64, '0')}`,
    state: { running: { startedAt: TIME } },
    lastState: {},
  }
  return {
    phase: 'Running',
    hostIP: '10.0.0.1',
    podIP: `10.1.${number % 256}.${Math.floor(number / 256) % 256}`,
    qosClass: 'Burstable',
    startTime: TIME,
    conditions: conditions.map((type) => ({ type, status: 'True', ...times })),
    containerStatuses: [container],
  }
}

const fieldsOfSpec = ['command', 'env', 'image', 'name', 'ports', 'resources', 'securityContext', 'volumeMounts']
const fieldsOfStatus = ['conditions', 'containerStatuses', 'hostIP', 'phase', 'podIP', 'podIPs', 'startTime']

function managedFields(manager: string, fields: readonly string[]) {
  const nested = Object.fromEntries(
    fields.map((field) => [`f:${field}`, { '.': {}, [`k:{"name":"${field}"}`]: { 'f:name': {}, 'f:value': {} } }]),
  )
  return {
    manager,
    operation: 'Apply',
    apiVersion: 'v1',
    time: '2030-01-01T00:00:00Z',
    fieldsType: 'FieldsV1',
    fieldsV1: nested,
  }
}

/** Keeps the fields that a controller of pods reads. */
function trim({ apiVersion, kind, metadata, spec, status }: Pod): Pod {
  const { nodeName } = spec ?? {}
  const { phase, reason, conditions, containerStatuses } = status ?? {}
  const { name, namespace, uid, resourceVersion, labels, ownerReferences, deletionTimestamp } = metadata
  const kept = { name, namespace, uid, resourceVersion, labels, ownerReferences, deletionTimestamp }
  const states = containerStatuses?.map((container) => ({
    name: container.name,
    ready: container.ready,
    state: container.state,
  }))
  const ready = conditions?.filter(({ type }) => type === 'Ready' || type === 'DisruptionTarget')
  return {
    apiVersion,
    kind,
    metadata: kept,
    spec: { nodeName },
    status: { phase, reason, conditions: ready, containerStatuses: states },
  } as Pod
}

function* updates(prepare: (pod: Pod) => Pod): Generator<WatchUpdate<Pod>> {
  yield { type: 'replace', items: [], resourceVersion: '1' }
  for (let number = 0; number < count; number++)
    yield { type: 'apply', object: prepare(JSON.parse(podJson(number)) as Pod) }
}

async function* streamed(prepare: (pod: Pod) => Pod): AsyncGenerator<WatchUpdate<Pod>> {
  yield* updates(prepare)
}

/** After a turn of the event loop, because objects of an ended function are garbage only then. */
async function heapInUse(): Promise<number> {
  await turn()
  collectGarbage()
  return process.memoryUsage().heapUsed
}

async function heapOf(fill: () => Promise<unknown>): Promise<number> {
  const before = await heapInUse()
  const held = await fill()
  const used = (await heapInUse()) - before
  // Used after the measurement, so that it is not collected before.
  if (held === undefined) throw new Error('nothing was held')
  return used
}

async function filled(options: { trim?: (pod: Pod) => Pod }): Promise<Cache<Pod>> {
  const cache = new Cache<Pod>({ resource: Pod, log, labels: ['ml.example.com/job'], ...options })
  await cache.follow(streamed)
  return cache
}

/** The same store, with whole objects. */
async function untrimmed(): Promise<Store<Pod>> {
  const store = new Store<Pod>({ owner: ({ metadata }) => metadata.ownerReferences?.map(({ uid }) => uid) ?? [] })
  for (const update of updates((pod) => pod)) if (update.type === 'apply') store.put(update.object)
  return store
}

const variants: readonly [string, () => Promise<unknown>][] = [
  ['as sent by the server', untrimmed],
  ['without managedFields (default)', () => filled({})],
  ['trimmed to what is read', () => filled({ trim })],
]

await heapOf(() => filled({}))
process.stdout.write(`heap for ${count} cached pods, ${(podJson(0).length / 1024).toFixed(1)} kB of JSON each\n`)
for (const [name, fill] of variants) {
  const bytes = await heapOf(fill)
  const each = (bytes / count / 1024).toFixed(2)
  process.stdout.write(`  ${name.padEnd(34)} ${(bytes / 2 ** 20).toFixed(1).padStart(6)} MiB  ${each} KiB per pod\n`)
}
