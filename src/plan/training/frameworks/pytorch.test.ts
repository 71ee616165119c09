/** The environment that PyTorch reads, as its documentation says. */
import { test } from 'node:test'
import { assertEnvironment, type EnvironmentCase, MASTER } from '../../../../test/fixtures/training-environment.ts'

const torchrun = ['torchrun', 'train.py']
const elastic = { minWorkers: 2, maxWorkers: 8 }

const cases: readonly EnvironmentCase[] = [
  {
    name: 'pytorch, plain: init_method env://',
    spec: { numWorkers: 2, image: 'i', command: ['python', 'train.py'] },
    index: 1,
    has: { RANK: '1', WORLD_SIZE: '2', MASTER_ADDR: MASTER, MASTER_PORT: '29500' },
    not: ['PET_RDZV_BACKEND'],
  },
  {
    name: 'pytorch, torchrun of a fixed size: static rendezvous',
    spec: { numWorkers: 4, gpusPerWorker: 8, image: 'i', command: torchrun },
    index: 2,
    has: {
      PET_NNODES: '4',
      PET_NODE_RANK: '2',
      PET_NPROC_PER_NODE: '8',
      PET_MASTER_ADDR: MASTER,
      PET_MASTER_PORT: '29500',
    },
    not: ['PET_RDZV_BACKEND', 'PET_RDZV_ENDPOINT'],
  },
  {
    name: 'pytorch, elastic torchrun: c10d rendezvous at rank 0, with the size of the attempt as maximum',
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
      PET_RDZV_ENDPOINT: `${MASTER}:29500`,
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
]

for (const entry of cases) test(entry.name, () => assertEnvironment(entry))
