/** The gauges of TrainingJobs: what their status says. A value that the status does not have has no series. */
import type { TrainingJob } from '../api/trainingjob.v1.ts'
import { ObjectGauges, type ObjectGaugesOptions, sampleOf } from './object-gauges.ts'

const JOB = ['trainingjob'] as const

interface JobGauge {
  readonly name: string
  readonly help: string
  readonly value: (job: TrainingJob) => number | undefined
}

/** One series for each job. */
const jobGauges: readonly JobGauge[] = [
  {
    name: 'trainingjob_allocated_gpus',
    help: 'GPUs allocated to the workers of a job',
    value: ({ status }) => status?.resources?.allocatedGPUs,
  },
  {
    name: 'trainingjob_allocated_workers',
    help: 'Running workers of a job',
    value: ({ status }) => status?.workers?.active,
  },
  {
    name: 'trainingjob_progress_percent',
    help: 'Progress of a job in percent, as its workers report it',
    value: ({ status }) => percentOf(status?.progress),
  },
  {
    name: 'trainingjob_current_epoch',
    help: 'Epoch of a job, as its workers report it',
    value: ({ status }) => status?.currentEpoch,
  },
  {
    name: 'trainingjob_loss',
    help: 'Latest loss of a job, as its workers report it',
    value: ({ status }) => status?.metrics?.['loss'],
  },
  {
    name: 'trainingjob_accuracy',
    help: 'Latest accuracy of a job, as its workers report it',
    value: ({ status }) => status?.metrics?.['accuracy'],
  },
]

/** The value of `worker` for an average over all workers. */
const ALL_WORKERS = 'all'

export type TrainingGaugesOptions = Omit<ObjectGaugesOptions<TrainingJob>, 'isActive'>

export function addTrainingGauges(options: TrainingGaugesOptions): void {
  const gauges = new ObjectGauges({ ...options, isActive: ({ status }) => status?.completionTime === undefined })
  const state = { name: 'trainingjob_state', help: '1 for the state that a job is in; it has no other series' }
  gauges.add({ ...state, labelNames: ['name', 'state'] }, ({ metadata: { name }, status }) => [
    [{ name, state: status?.state ?? 'Pending' }, 1],
  ])
  for (const { name, help, value } of jobGauges)
    gauges.add({ name, help, labelNames: JOB }, (job) => sampleOf({ trainingjob: job.metadata.name }, value(job)))
  const gpu = {
    name: 'trainingjob_gpu_utilization_percent',
    help: 'Utilization of the GPUs of a job in percent; worker="all" is the average of its workers',
  }
  gauges.add({ ...gpu, labelNames: [...JOB, 'worker'] }, ({ metadata: { name: trainingjob }, status }) => [
    ...sampleOf({ trainingjob, worker: ALL_WORKERS }, status?.resources?.gpuUtilization),
    ...(status?.workerStatuses ?? []).flatMap(({ workerId, gpuUtilization }) =>
      sampleOf({ trainingjob, worker: String(workerId) }, gpuUtilization),
    ),
  ])
  gauges.addOmitted('trainingjob_objects_omitted', 'TrainingJobs without series, because there are too many')
}

/** `45%` or `45.5`; undefined for anything else. */
function percentOf(progress: string | undefined): number | undefined {
  const [, digits] = /^\s*(\d+(?:\.\d+)?)\s*%?\s*$/.exec(progress ?? '') ?? []
  return digits === undefined ? undefined : Number(digits)
}
