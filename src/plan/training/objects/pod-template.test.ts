/** The pods of a job and the objects that they mount. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TrainingCluster } from '../../../../test/sim/training-cluster.ts'
import type { Pod } from '../../../kube/resources.ts'
import { resourcesOf } from '../../pod/resources.ts'
import { defaultTrainingConfig, type TrainingConfig } from '../config.ts'
import { engines } from '../engines/registry.ts'
import { TEMPLATE_ANNOTATION } from '../names.ts'
import { checkpointClaims } from './claims.ts'
import { configMaps } from './config-map.ts'
import { headlessService } from './service.ts'

function podOf(
  spec: object = {},
  role = 'worker',
  index = 0,
  settings: Partial<TrainingConfig> = {},
): Pod & { readonly spec: NonNullable<Pod['spec']> } {
  const { observed } = new TrainingCluster(spec)
  const attempt = { number: 1, worldSize: observed.job.spec.numWorkers }
  const config = { ...observed.config, ...settings }
  const [pod] = engines.pods.create({ ...observed, config }, attempt, [{ role, index }])
  assert.ok(pod)
  return pod as Pod & { readonly spec: NonNullable<Pod['spec']> }
}

const everySpec: readonly object[] = [
  {},
  { gpusPerWorker: 8, volumes: [{ name: 'a', emptyDir: {} }], volumeMounts: [{ name: 'a', mountPath: '/a' }] },
  { framework: 'mpi', numWorkers: 2 },
  { serviceAccountName: 'trainer', dataVolume: { claimName: 'data' } },
]

describe('Pod Security restricted', () => {
  for (const spec of everySpec) {
    test(JSON.stringify(spec), () => {
      const { securityContext = {}, containers, volumes = [], ...pod } = podOf(spec).spec
      const { runAsNonRoot, runAsUser = 0, seccompProfile } = securityContext
      assert.deepEqual([runAsNonRoot, runAsUser > 0, seccompProfile], [true, true, { type: 'RuntimeDefault' }])
      assert.deepEqual([pod.hostNetwork, pod.hostPID, pod.hostIPC], [undefined, undefined, undefined])
      for (const container of containers)
        assert.deepEqual(container.securityContext, {
          allowPrivilegeEscalation: false,
          capabilities: { drop: ['ALL'] },
        })
      const allowed = ['name', 'configMap', 'secret', 'persistentVolumeClaim', 'emptyDir']
      assert.ok(volumes.flatMap(Object.keys).every((key: string) => allowed.includes(key)))
    })
  }

  test('no path is mounted twice', () => {
    for (const spec of everySpec) {
      const paths = podOf(spec).spec.containers[0]?.volumeMounts?.map(({ mountPath }) => mountPath) ?? []
      assert.deepEqual([...new Set(paths)], paths)
    }
  })
})

test('names, labels and annotations are the documented ones', () => {
  const { metadata, spec } = podOf({ numWorkers: 2 }, 'worker', 1)
  assert.equal(metadata.name, 'bert-workers-1')
  assert.deepEqual([spec.hostname, spec.subdomain], ['bert-workers-1', 'bert-workers'])
  assert.deepEqual(metadata.labels, {
    app: 'trainingjob',
    trainingjob: 'bert',
    component: 'worker',
    'app.kubernetes.io/name': 'trainingjob',
    'app.kubernetes.io/instance': 'bert',
    'app.kubernetes.io/component': 'worker',
    'app.kubernetes.io/part-of': 'ml-operator',
    'app.kubernetes.io/managed-by': 'ml-operator',
    'trainingjob.ml.example.com/worker': '1',
    'trainingjob.ml.example.com/role': 'worker',
    'trainingjob.ml.example.com/index': '1',
    'trainingjob.ml.example.com/attempt': '1',
    'trainingjob.ml.example.com/job-uid': 'uid-of-job',
  })
  const { [TEMPLATE_ANNOTATION]: template = '', ...annotations } = metadata.annotations ?? {}
  assert.deepEqual(annotations, { 'prometheus.io/scrape': 'true', 'prometheus.io/port': '8000' })
  assert.match(template, /^[0-9a-f]{8}$/)
  assert.equal(spec.containers[0]?.name, 'training-worker')
  assert.equal(spec.automountServiceAccountToken, false)
})

test('the template fingerprint leaves out the recommended labels, so pods from before them are not outdated', () => {
  for (const [spec, expected] of [
    [{}, '9d292a56'],
    [{ framework: 'mpi', numWorkers: 2 }, '921994a3'],
  ] as const)
    assert.equal(podOf(spec).metadata.annotations?.[TEMPLATE_ANNOTATION], expected)
})

test('adds the node selector and toleration for GPUs only to pods with GPUs', () => {
  const scheduling = {
    nodeSelector: { pool: 'a' },
    tolerations: [{ key: 'spot', operator: 'Exists' }],
    priorityClassName: 'high',
    schedulerName: 'mine',
  }
  const settings = { gpuNodeSelector: { accelerator: 'nvidia-gpu' } }
  const { spec } = podOf({ gpusPerWorker: 2, scheduling }, 'worker', 0, settings)
  assert.deepEqual(spec.nodeSelector, { accelerator: 'nvidia-gpu', pool: 'a' })
  assert.deepEqual(
    spec.tolerations?.map(({ key }) => key),
    ['nvidia.com/gpu', 'spot'],
  )
  assert.deepEqual([spec.priorityClassName, spec.schedulerName], ['high', 'mine'])
  const { spec: plain } = podOf({ gpusPerWorker: 0 }, 'worker', 0, settings)
  assert.deepEqual([plain.nodeSelector, plain.tolerations], [undefined, undefined])
})

test('requires no label of nodes with GPUs unless the administrator sets one', () => {
  assert.equal(podOf({ gpusPerWorker: 2 }).spec.nodeSelector, undefined)
})

for (const [name, spec, role, expected] of [
  ['GPUs', { gpusPerWorker: 1 }, 'worker', { cpu: '4', memory: '16Gi', 'nvidia.com/gpu': '1' }],
  ['no GPUs', { gpusPerWorker: 0 }, 'worker', { cpu: '500m', memory: '1Gi' }],
  ['a role without GPUs', { framework: 'mpi' }, 'launcher', { cpu: '500m', memory: '1Gi' }],
  [
    'another device',
    { gpusPerWorker: 0, resources: { limits: { 'nvidia.com/mig-1g.5gb': 1 } } },
    'worker',
    { cpu: '4', memory: '16Gi' },
  ],
] as const)
  test(`default requests of a pod with ${name}`, () =>
    assert.deepEqual(podOf(spec, role).spec.containers[0]?.resources?.requests, expected))

test('adds a pod affinity for the topology key to the affinity of the job', () => {
  const near = { labelSelector: { matchLabels: { app: 'cache' } }, topologyKey: 'zone' }
  const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [near] } }
  const { spec } = podOf({ scheduling: { affinity, topologyKey: 'rack' } })
  const terms = spec.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  assert.deepEqual(
    terms?.map(({ topologyKey }) => topologyKey),
    ['zone', 'rack'],
  )
  assert.deepEqual(terms?.[1]?.labelSelector?.matchLabels, { 'trainingjob.ml.example.com/job-uid': 'uid-of-job' })
})

test('default resources never contradict those of the spec', () => {
  const of = (wanted: object, gpus = 0): object => resourcesOf(wanted, gpus, defaultTrainingConfig)
  assert.deepEqual(of({}, 2), {
    requests: { cpu: '4', memory: '16Gi', 'nvidia.com/gpu': '2' },
    limits: { cpu: '8', memory: '32Gi', 'nvidia.com/gpu': '2' },
  })
  assert.deepEqual(of({ limits: { cpu: 2 } }), { requests: { memory: '16Gi' }, limits: { cpu: '2', memory: '32Gi' } })
  assert.deepEqual(of({ requests: { memory: '64Gi' } }), {
    requests: { cpu: '4', memory: '64Gi' },
    limits: { cpu: '8', memory: '64Gi' },
  })
})

test('volumes: shared memory, checkpoints, data, hyperparameters as a file', () => {
  const dataVolume = { claimName: 'd', readOnly: true }
  const { spec } = podOf({ dataVolume, checkpoint: { storage: { path: '/ckpt' } }, hyperparameters: { lr: 1 } })
  const mounts = Object.fromEntries(
    spec.containers[0]?.volumeMounts?.map(({ name, mountPath }) => [name, mountPath]) ?? [],
  )
  assert.deepEqual(mounts, {
    checkpoints: '/ckpt',
    data: '/data',
    dshm: '/dev/shm',
    config: '/etc/trainingjob/hyperparameters.json',
  })
  assert.deepEqual(spec.volumes?.find(({ name }) => name === 'dshm')?.emptyDir, { medium: 'Memory', sizeLimit: '2Gi' })
  const { spec: none } = podOf({ checkpoint: { enabled: false } })
  assert.deepEqual(
    none.volumes?.map(({ name }) => name),
    ['dshm'],
  )
})

describe('commands', () => {
  const of = (spec: object, role?: string): readonly string[] => {
    const { command = [], args = [] } = podOf(spec, role).spec.containers[0] ?? {}
    return [...command, ...args]
  }

  test('uses the command and arguments of the job', () => {
    assert.deepEqual(of({ image: 'i', command: ['python', 'a.py'], args: ['--x'] }), ['python', 'a.py', '--x'])
  })

  test('starts torch.distributed.launch by default, rank 0 first', () => {
    const [shell, flag, script = '', name, ...rest] = of({ args: ['--amp'] })
    assert.deepEqual([shell, flag, name, rest], ['/bin/bash', '-c', 'train', ['--amp']])
    for (const part of [
      'python -m torch.distributed.launch',
      '--nnodes=$NUM_WORKERS',
      '--node_rank=$RANK',
      '/app/train.py',
      '--checkpoint-dir="$CHECKPOINT_DIR"',
      '${HYPERPARAM_EPOCHS:+--epochs="$HYPERPARAM_EPOCHS"}',
      '"$@"',
      '/dev/tcp/$MASTER_ADDR/$MASTER_PORT',
    ])
      assert.ok(script.includes(part), part)
  })

  for (const framework of ['tensorflow', 'xgboost', 'jax', 'custom'])
    test(`starts python by default: ${framework}`, () =>
      assert.match(of({ framework })[2] ?? '', /exec python \/app\/train\.py/))

  test('mpi: workers run sshd, the launcher runs the command', () => {
    assert.match(of({ framework: 'mpi' })[2] ?? '', /^exec \/usr\/sbin\/sshd -D /m)
    assert.deepEqual(of({ framework: 'mpi', image: 'i', command: ['mpirun', 'x'] }, 'launcher'), ['mpirun', 'x'])
    assert.match(
      of({ framework: 'mpi' }, 'launcher')[2] ?? '',
      /exec mpirun -np \$\(\(NUM_WORKERS \* I_MPI_PERHOST\)\)/,
    )
  })

  test('a role can have its own image, command and GPUs', () => {
    const roles = [{ name: 'ps', image: 'ps:1', command: ['serve'], gpus: 0 }]
    const { spec } = podOf({ framework: 'tensorflow', image: 'w:1', command: ['work'], roles }, 'ps')
    assert.deepEqual([spec.containers[0]?.image, spec.containers[0]?.command], ['ps:1', ['serve']])
    const gpus = (role: string): unknown =>
      podOf({ framework: 'tensorflow', gpusPerWorker: 2, roles: [{ name: 'ps' }, { name: 'chief' }] }, role).spec
        .containers[0]?.resources?.limits?.['nvidia.com/gpu']
    assert.deepEqual([gpus('ps'), gpus('chief'), gpus('worker')], [undefined, '2', '2'])
  })
})

test('uses the default image for a job without one', () => {
  assert.equal(podOf({ model: 'resnet50' }).spec.containers[0]?.image, 'training-image:resnet50')
})

test('a framework without a configured image uses its own default', () => {
  const { observed } = new TrainingCluster({ framework: 'jax' })
  const config = { ...observed.config, defaultImages: { pytorch: 'torch:{model}' } }
  const attempt = { number: 1, worldSize: 1 }
  const [pod] = engines.pods.create({ ...observed, config }, attempt, [{ role: 'worker', index: 0 }])
  assert.equal((pod as Pod).spec?.containers[0]?.image, 'training-image:bert')
})

test('the Service publishes pods before they are ready', () => {
  const { job } = new TrainingCluster({ networking: { masterPort: 1234 } })
  const { metadata, spec } = headlessService(job)
  assert.equal(metadata.name, 'bert-workers')
  assert.deepEqual([spec?.clusterIP, spec?.publishNotReadyAddresses, spec?.ports?.[0]?.port], ['None', true, 1234])
  assert.deepEqual(spec?.selector, { app: 'trainingjob', trainingjob: 'bert', component: 'worker' })
})

test('the ConfigMap holds the hyperparameters, and the hostfile of MPI', () => {
  const { job } = new TrainingCluster({ framework: 'mpi', gpusPerWorker: 2, hyperparameters: { epochs: 3 } })
  const [{ data, metadata } = {}] = configMaps(job, { number: 1, worldSize: 2 })
  assert.equal(metadata?.name, 'bert-config')
  assert.deepEqual(JSON.parse(data?.['hyperparameters.json'] ?? ''), { epochs: 3 })
  assert.equal(data?.['hostfile'], 'bert-workers-0.bert-workers slots=2\nbert-workers-1.bert-workers slots=2\n')
})

test('the claim for checkpoints has no owner, and a label with the uid of its job', () => {
  const { job } = new TrainingCluster({ checkpoint: { storage: { size: '5Gi', storageClass: 'fast' } } })
  const [claim] = checkpointClaims(job, defaultTrainingConfig)
  assert.equal(claim?.metadata.name, 'bert-checkpoints')
  assert.equal(claim?.metadata.ownerReferences, undefined)
  assert.equal(claim?.metadata.labels?.['trainingjob.ml.example.com/job-uid'], 'uid-of-job')
  assert.deepEqual(claim?.spec?.resources?.requests, { storage: '5Gi' })
  assert.deepEqual(
    checkpointClaims(new TrainingCluster({ checkpoint: { enabled: false } }).job, defaultTrainingConfig),
    [],
  )
})

const ONCE = ['ReadWriteOnce']
const MANY = ['ReadWriteMany']

for (const [name, spec, configured, expected] of [
  ['one worker', {}, 'Auto', ONCE],
  ['two workers', { numWorkers: 2 }, 'Auto', MANY],
  ['a worker and a role', { framework: 'tensorflow', roles: [{ name: 'chief', replicas: 1 }] }, 'Auto', MANY],
  ['a worker and the launcher of MPI', { framework: 'mpi' }, 'Auto', MANY],
  ['the mode of the administrator', {}, 'ReadWriteMany', MANY],
  ['modes of the job', { numWorkers: 2, checkpoint: { storage: { accessModes: ONCE } } }, 'ReadWriteMany', ONCE],
] as const)
  test(`access modes of the claim for checkpoints: ${name}`, () => {
    const config = { ...defaultTrainingConfig, checkpointAccessMode: configured }
    const [claim] = checkpointClaims(new TrainingCluster(spec).job, config)
    assert.deepEqual(claim?.spec?.accessModes, expected)
  })

test('a worker without GPUs sees none, whatever envFrom sets', () => {
  const envFrom = [{ configMapRef: { name: 'settings' } }]
  const visible = (spec: object): string | undefined =>
    podOf({ envFrom, ...spec }, 'worker', 0).spec.containers[0]?.env?.find(
      ({ name }) => name === 'NVIDIA_VISIBLE_DEVICES',
    )?.value
  assert.equal(visible({ gpusPerWorker: 0 }), 'void')
  assert.equal(visible({ gpusPerWorker: 1 }), undefined)
  assert.equal(visible({ gpusPerWorker: 0, resources: { limits: { 'nvidia.com/mig-1g.5gb': 1 } } }), undefined)
})
