/** The environment that every pod has, whatever its framework. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { trainingJob } from '../../../../test/sim/training-cluster.ts'
import { assertHas, environmentOf, MASTER } from '../../../../test/fixtures/training-environment.ts'
import type { Pod } from '../../../kube/resources.ts'
import { renderVariable } from '../../pod/variable.ts'
import { defaultTrainingConfig } from '../config.ts'
import { engineOf } from '../engines/registry.ts'

test('every worker has its rank, the address of rank 0, and its task', () => {
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
    MASTER_ADDR: MASTER,
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
    CHECKPOINT_KEEP_LAST: '3',
    DISTRIBUTED_BACKEND: 'nccl',
    NCCL_DEBUG: 'INFO',
    NCCL_SOCKET_IFNAME: 'eth0',
    TRAININGJOB_ATTEMPT: '1',
  })
})

test('a variable of the spec can have its value from elsewhere, but not replace one of ours', () => {
  const env = [
    { name: 'NODE', value: '', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
    { name: 'RANK', value: '', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
  ]
  assertHas(environmentOf({ env, numWorkers: 2 }, 'worker', 1), { NODE: '<spec.nodeName>', RANK: '1' })
  const secretKeyRef = { name: 's', key: 'token' }
  assert.deepEqual(renderVariable({ name: 'T', value: '', valueFrom: { secretKeyRef } }), {
    name: 'T',
    valueFrom: { secretKeyRef },
  })
})

test('a variable RESUME_FROM_CHECKPOINT of the spec applies while nothing else is recorded', () => {
  const env = [{ name: 'RESUME_FROM_CHECKPOINT', value: '/pretrained' }]
  assert.equal(environmentOf({}, 'worker', 0)['RESUME_FROM_CHECKPOINT'], undefined)
  assert.equal(environmentOf({ env }, 'worker', 0)['RESUME_FROM_CHECKPOINT'], '/pretrained')
})

test('with a bucket, the directory of the checkpoints is local', () => {
  const storage = { type: 's3', path: 's3://b/p/' }
  assertHas(environmentOf({ checkpoint: { storage, keepLast: 5 } }), {
    CHECKPOINT_DIR: '/checkpoints',
    CHECKPOINT_URI: 's3://b/p',
    CHECKPOINT_STORAGE: 's3',
    CHECKPOINT_KEEP_LAST: '5',
  })
})

test('the world size is that of the attempt, whatever the spec says by now', () => {
  const environment = environmentOf({ numWorkers: 4 }, 'worker', 1, { number: 7, worldSize: 2 })
  assertHas(environment, { WORLD_SIZE: '2', NUM_WORKERS: '2', PET_NNODES: '2', TRAININGJOB_ATTEMPT: '7' })
})

test('a spec can override defaults, but not the identity of a worker', () => {
  const env = [
    { name: 'NCCL_DEBUG', value: 'WARN' },
    { name: 'RANK', value: '9' },
    { name: 'MINE', value: '$(RANK) of $(WORLD_SIZE)' },
  ]
  const environment = environmentOf({ env, numWorkers: 2, gpusPerWorker: 0 }, 'worker', 1)
  assertHas(environment, { NCCL_DEBUG: 'WARN', RANK: '1', MINE: '1 of 2', DISTRIBUTED_BACKEND: 'gloo' })
})

test('sets no name twice, which server-side apply rejects', () => {
  const hyperparameters = { rate: 1, RATE: 2, Rate: 3 }
  const job = trainingJob({ hyperparameters, env: [{ name: 'MODEL', value: 'x' }] })
  const observed = { job, now: 0, pods: [], claims: [], nodes: [], logTails: new Map(), config: defaultTrainingConfig }
  const [pod] = engineOf(job.spec).create(observed, { number: 1, worldSize: 1 }, [{ role: 'worker', index: 0 }])
  const names = ((pod as Pod).spec?.containers[0]?.env ?? []).map(({ name }) => name)
  assert.deepEqual([...new Set(names)], names)
})
