/**
 * PyTorch: a plain script needs only `RANK`, `WORLD_SIZE`, `MASTER_ADDR` and `MASTER_PORT`, which every worker has. torchrun
 * reads its options from `PET_*`; the command line overrides them.
 *
 * Elastic: torchrun's own rendezvous at rank 0, between `elastic.minWorkers` and the size of the attempt. With the size as
 * upper bound it starts as soon as all workers are there, instead of waiting for more.
 */
import type { TrainingJobSpec } from '../../../api/trainingjob.v1.ts'
import { type Variable, variable } from '../../pod/variable.ts'
import { WORKER } from '../names.ts'
import { procsPerWorker } from '../observe/attempt.ts'
import { DEFAULT_IMAGE, type Framework, type Launch } from './contract.ts'
import { masterOf, type PodIdentity } from './pod-identity.ts'

/** torch.distributed.launch does not wait for rank 0 to listen. The wait needs bash and nothing else. */
const launch: Launch = {
  setup: [
    'if [ "$RANK" != "0" ]; then',
    '  echo "Waiting for the master at $MASTER_ADDR:$MASTER_PORT"',
    '  until (exec 3<>"/dev/tcp/$MASTER_ADDR/$MASTER_PORT") 2>/dev/null; do sleep 1; done',
    'fi',
  ],
  command: [
    'python -m torch.distributed.launch',
    '--nproc_per_node=$PET_NPROC_PER_NODE',
    '--nnodes=$NUM_WORKERS',
    '--node_rank=$RANK',
    '--master_addr=$MASTER_ADDR',
    '--master_port=$MASTER_PORT',
    '/app/train.py',
  ],
}

export const pytorch: Framework = {
  defaultImage: DEFAULT_IMAGE,
  launch,
  environment,
  // The rendezvous is at rank 0.
  elasticity: { isEnabled: isElasticTorchrun, isEssential: ({ role, index }) => role !== WORKER || index === 0 },
}

function environment(pod: PodIdentity): Variable[] {
  const { spec } = pod.job
  return [
    ...variable('PET_NPROC_PER_NODE', procsPerWorker(spec)),
    ...variable('PET_NODE_RANK', pod.index),
    ...(isElasticTorchrun(spec) ? elasticRendezvous(pod) : staticRendezvous(pod)),
  ]
}

/** A plain script does not survive the loss of a worker, whether `spec.elastic` is set or not. */
function isElasticTorchrun({ elastic, engine, command }: TrainingJobSpec): boolean {
  return engine === 'pods' && elastic !== undefined && TORCHRUN.test(command?.join(' ') ?? '')
}

const TORCHRUN = /(^|[\s/])torchrun(\s|$)|torch\.distributed\.run\b/

function staticRendezvous(pod: PodIdentity): Variable[] {
  return [
    ...variable('PET_NNODES', pod.attempt.worldSize),
    ...variable('PET_MASTER_ADDR', masterOf(pod)),
    ...variable('PET_MASTER_PORT', pod.job.spec.networking.masterPort),
  ]
}

function elasticRendezvous(pod: PodIdentity): Variable[] {
  const { job, attempt } = pod
  const { elastic, networking, backoffLimit } = job.spec
  const fewest = Math.min(elastic?.minWorkers ?? 1, attempt.worldSize)
  return [
    ...variable('PET_NNODES', `${fewest}:${attempt.worldSize}`),
    ...variable('PET_RDZV_BACKEND', 'c10d'),
    ...variable('PET_RDZV_ENDPOINT', `${masterOf(pod)}:${networking.masterPort}`),
    ...variable('PET_RDZV_ID', `${job.metadata.name}-${attempt.number}`),
    ...variable('PET_MAX_RESTARTS', backoffLimit),
  ]
}
