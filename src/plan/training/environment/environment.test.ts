/** The environment of each framework, against what its own documentation says it reads. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Job, Pod } from '../../../kube/resources.ts'
import { defaultTrainingConfig } from '../config.ts'
import { engineOf } from '../engine/engine.ts'
import { trainingJob } from '../../../../test/simulated-cluster.ts'
import type { Attempt } from '../attempt.ts'

type Environment = Record<string, string>

/** What a process sees: references resolved as the kubelet does, backwards only. */
function environmentIn({ spec }: { readonly spec?: Pod['spec'] }, index = 0): Environment {
  const seen: Environment = {}
  for (const { name, value, valueFrom } of spec?.containers[0]?.env ?? []) {
    const isRank = valueFrom?.fieldRef?.fieldPath === `metadata.annotations['batch.kubernetes.io/job-completion-index']`
    const text = isRank ? String(index) : (value ?? `<${valueFrom?.fieldRef?.fieldPath}>`)
    seen[name] = text.replaceAll(/\$\$|\$\((\w+)\)/g, (match, known?: string) =>
      known === undefined ? '$' : (seen[known] ?? match),
    )
  }
  return seen
}

function environmentOf(spec: object, role = 'worker', index = 0, attempt?: Attempt): Environment {
  const job = trainingJob(spec)
  const worldSize = job.spec.numWorkers
  const observed = { job, now: 0, pods: [], claims: [], nodes: [], logTails: new Map(), config: defaultTrainingConfig }
  const [made] = engineOf(job.spec).occupy(observed, attempt ?? { number: 1, worldSize }, [{ role, index }])
  assert.ok(made)
  return made.kind === 'Job' ? environmentIn((made as Job).spec?.template ?? {}, index) : environmentIn(made as Pod)
}

function assertHas(actual: Environment, wanted: Environment): void {
  assert.deepEqual(Object.fromEntries(Object.keys(wanted).map((name) => [name, actual[name]])), wanted)
}

const M = 'bert-workers-0.bert-workers'

test('every worker knows who it is, where rank 0 is, and what there is to do', () => {
  const spec = {
    numWorkers: 4,
    gpusPerWorker: 2,
    hyperparameters: { learningRate: 0.001, batchSize: 32, betas: [0.9], 'a.b-c': '$(HOME)' },
  }
  assertHas(environmentOf(spec, 'worker', 3), {
    POD_NAME: '<metadata.name>',
    POD_IP: '<status.podIP>',
    RANK: '3',
    WORLD_SIZE: '4',
    MASTER_ADDR: M,
    MASTER_PORT: '29500',
    MODEL: 'bert',
    DATASET: 'wiki',
    NUM_WORKERS: '4',
    GPUS_PER_WORKER: '2',
    HYPERPARAM_LEARNINGRATE: '0.001',
    HYPERPARAM_BATCHSIZE: '32',
    HYPERPARAM_BETAS: '[0.9]',
    HYPERPARAM_A_B_C: '$(HOME)',
    HYPERPARAMETERS: '{"learningRate":0.001,"batchSize":32,"betas":[0.9],"a.b-c":"$(HOME)"}',
    CHECKPOINT_DIR: '/checkpoints',
    CHECKPOINT_STORAGE: 'pvc',
    CHECKPOINT_FREQUENCY: '1',
    DISTRIBUTED_BACKEND: 'nccl',
    NCCL_DEBUG: 'INFO',
    NCCL_SOCKET_IFNAME: 'eth0',
    TRAININGJOB_ATTEMPT: '1',
  })
})

test('an attempt after the first is told where to go on from, whatever the spec says; the first is not', () => {
  const env = [{ name: 'RESUME_FROM_CHECKPOINT', value: '/pretrained' }]
  const resumed = (spec: object, number: number): string | undefined =>
    environmentOf(spec, 'worker', 0, { number, worldSize: 1 })['RESUME_FROM_CHECKPOINT']
  assert.equal(resumed({}, 1), undefined)
  assert.equal(resumed({}, 2), '/checkpoints')
  assert.equal(resumed({ env }, 1), '/pretrained')
  assert.equal(resumed({ env, checkpoint: { storage: { type: 's3', path: 's3://b/p' } } }, 2), 's3://b/p')
  assert.equal(resumed({ checkpoint: { enabled: false } }, 2), undefined)
})

test('the size of the attempt counts, whatever the spec says by now', () => {
  const environment = environmentOf({ numWorkers: 4 }, 'worker', 1, { number: 7, worldSize: 2 })
  assertHas(environment, { WORLD_SIZE: '2', NUM_WORKERS: '2', PET_NNODES: '2', TRAININGJOB_ATTEMPT: '7' })
})

test('a job may change what is suggested, but not who its workers are', () => {
  const env = [
    { name: 'NCCL_DEBUG', value: 'WARN' },
    { name: 'RANK', value: '9' },
    { name: 'MINE', value: '$(RANK) of $(WORLD_SIZE)' },
  ]
  const environment = environmentOf({ env, numWorkers: 2, gpusPerWorker: 0 }, 'worker', 1)
  assertHas(environment, { NCCL_DEBUG: 'WARN', RANK: '1', MINE: '1 of 2', DISTRIBUTED_BACKEND: 'gloo' })
})

test('no name is set twice, which server-side apply would refuse', () => {
  const hyperparameters = { rate: 1, RATE: 2, Rate: 3 }
  const job = trainingJob({ hyperparameters, env: [{ name: 'MODEL', value: 'x' }] })
  const observed = { job, now: 0, pods: [], claims: [], nodes: [], logTails: new Map(), config: defaultTrainingConfig }
  const [pod] = engineOf(job.spec).occupy(observed, { number: 1, worldSize: 1 }, [{ role: 'worker', index: 0 }])
  const names = ((pod as Pod).spec?.containers[0]?.env ?? []).map(({ name }) => name)
  assert.deepEqual([...new Set(names)], names)
})

const torchrun = ['torchrun', 'train.py']
const elastic = { minWorkers: 2, maxWorkers: 8 }

const table: readonly {
  readonly name: string
  readonly spec: object
  readonly role?: string
  readonly index?: number
  readonly has?: Environment
  readonly not?: readonly string[]
}[] = [
  {
    name: 'pytorch, plain: init_method env://',
    spec: { numWorkers: 2, image: 'i', command: ['python', 'train.py'] },
    index: 1,
    has: { RANK: '1', WORLD_SIZE: '2', MASTER_ADDR: M, MASTER_PORT: '29500' },
    not: ['PET_RDZV_BACKEND'],
  },
  {
    name: 'pytorch, torchrun of a fixed size: static rendezvous',
    spec: { numWorkers: 4, gpusPerWorker: 8, image: 'i', command: torchrun },
    index: 2,
    has: { PET_NNODES: '4', PET_NODE_RANK: '2', PET_NPROC_PER_NODE: '8', PET_MASTER_ADDR: M, PET_MASTER_PORT: '29500' },
    not: ['PET_RDZV_BACKEND', 'PET_RDZV_ENDPOINT'],
  },
  {
    name: 'pytorch, elastic torchrun: c10d rendezvous at rank 0, at most as many as there are',
    spec: {
      numWorkers: 4,
      gpusPerWorker: 0,
      procsPerWorker: 2,
      elastic,
      image: 'i',
      command: ['python', '-m', 'torch.distributed.run', 'train.py'],
    },
    index: 2,
    has: {
      PET_NNODES: '2:4',
      PET_NPROC_PER_NODE: '2',
      PET_RDZV_BACKEND: 'c10d',
      PET_RDZV_ENDPOINT: `${M}:29500`,
      PET_RDZV_ID: 'bert-1',
      PET_MAX_RESTARTS: '3',
    },
    not: ['PET_MASTER_ADDR'],
  },
  {
    name: 'pytorch, elastic but plain: the script needs the exact size',
    spec: { numWorkers: 4, elastic, image: 'i', command: ['python', 'train.py'] },
    has: { PET_NNODES: '4', WORLD_SIZE: '4' },
    not: ['PET_RDZV_BACKEND'],
  },
  {
    name: 'tensorflow with workers only',
    spec: { framework: 'tensorflow', numWorkers: 2, networking: { masterPort: 2222 } },
    index: 1,
    has: {
      TF_CONFIG: JSON.stringify({
        cluster: { worker: [`${M}:2222`, 'bert-workers-1.bert-workers:2222'] },
        task: { type: 'worker', index: 1 },
      }),
    },
  },
  {
    name: 'tensorflow: a chief and parameter servers belong to the cluster, the evaluator does not',
    spec: {
      framework: 'tensorflow',
      numWorkers: 1,
      roles: [{ name: 'chief' }, { name: 'ps', replicas: 2 }, { name: 'evaluator' }],
    },
    role: 'evaluator',
    has: {
      TF_CONFIG: JSON.stringify({
        cluster: {
          chief: ['bert-chief-0.bert-workers:29500'],
          ps: ['bert-ps-0.bert-workers:29500', 'bert-ps-1.bert-workers:29500'],
          worker: [`${M}:29500`],
        },
        task: { type: 'evaluator', index: 0 },
      }),
    },
    not: ['RANK'],
  },
  { name: 'tensorflow alone', spec: { framework: 'tensorflow' }, not: ['TF_CONFIG'] },
  {
    name: 'xgboost and LightGBM',
    spec: { framework: 'xgboost', numWorkers: 2, gpusPerWorker: 4 },
    index: 1,
    has: {
      DMLC_TRACKER_URI: M,
      DMLC_TRACKER_PORT: '29500',
      DMLC_TASK_ID: '1',
      DMLC_NUM_WORKER: '8',
      WORKER_ADDRS: `${M},bert-workers-1.bert-workers`,
      WORKER_PORT: '29500',
      RANK: '1',
      WORLD_SIZE: '2',
    },
  },
  {
    name: 'jax: jax.distributed.initialize()',
    spec: { framework: 'jax', numWorkers: 2 },
    index: 1,
    has: {
      JAX_COORDINATOR_ADDRESS: `${M}:29500`,
      JAX_NUM_PROCESSES: '2',
      JAX_PROCESS_ID: '1',
      COORDINATOR_ADDRESS: M,
      COORDINATOR_PORT: '29500',
      NUM_PROCESSES: '2',
      PROCESS_ID: '1',
    },
  },
  {
    name: 'mpi launcher: hostfile and ssh for Open MPI, Intel MPI and MPICH',
    spec: { framework: 'mpi', numWorkers: 2, gpusPerWorker: 4 },
    role: 'launcher',
    has: {
      K_MPI_JOB_ROLE: 'launcher',
      OMPI_MCA_orte_default_hostfile: '/etc/mpi/hostfile',
      OMPI_MCA_orte_keep_fqdn_hostnames: 'true',
      OMPI_MCA_orte_set_default_slots: '4',
      I_MPI_HYDRA_HOST_FILE: '/etc/mpi/hostfile',
      I_MPI_PERHOST: '4',
      HYDRA_HOST_FILE: '/etc/mpi/hostfile',
    },
    not: ['RANK'],
  },
  {
    name: 'mpi worker',
    spec: { framework: 'mpi', numWorkers: 2 },
    has: { K_MPI_JOB_ROLE: 'worker' },
    not: ['OMPI_MCA_plm_rsh_args'],
  },
  {
    name: 'custom',
    spec: { framework: 'custom', numWorkers: 2 },
    index: 1,
    has: { RANK: '1', WORLD_SIZE: '2', MASTER_ADDR: M },
  },
  {
    name: 'engine job: hosts have the name of the Job, and the index comes from it',
    spec: { numWorkers: 3, engine: 'job', framework: 'tensorflow' },
    index: 2,
    has: {
      RANK: '2',
      MASTER_ADDR: 'bert-job-0.bert-workers',
      TF_CONFIG: JSON.stringify({
        cluster: { worker: [0, 1, 2].map((index) => `bert-job-${index}.bert-workers:29500`) },
        task: { type: 'worker', index: 2 },
      }),
    },
  },
]

for (const { name, spec, role, index, has = {}, not = [] } of table) {
  test(name, () => {
    const environment = environmentOf(spec, role, index)
    assertHas(environment, has)
    for (const absent of not) assert.equal(environment[absent], undefined, absent)
  })
}
