/** The lives of a TrainingJob that have to survive a death of the operator at any write. */
import { trainingJobs } from '../../src/api/kinds.ts'
import type { TrainingJob } from '../../src/api/trainingjob.v1.ts'
import type { TrainingJobState } from '../../src/api/training-status.ts'
import { ConfigMap, Job, PersistentVolumeClaim, Pod, Service } from '../../src/kube/resources.ts'
import {
  attemptOf,
  envOf,
  isComplete,
  oneMeets,
  rankOf,
  type SpecInput,
  succeedTogether,
  trainingJob,
} from '../training-job.ts'
import type { Scenario, Stage } from './run.ts'
import { trainingOracles } from './training-oracles.ts'

const NAME = 'job'

function scenario(name: string, play: Scenario['play']): Scenario {
  const kinds = [Pod, Service, ConfigMap, PersistentVolumeClaim, Job]
  return { name, primary: trainingJobs, kinds, oracles: trainingOracles, play }
}

const current = ({ world }: Stage): TrainingJob | undefined =>
  world.list(trainingJobs).find(({ metadata }) => metadata.name === NAME)

const create = ({ client, namespace }: Stage, spec: SpecInput = {}): Promise<TrainingJob> =>
  client.create(trainingJobs, trainingJob(namespace, NAME, spec))

const change = ({ client, namespace }: Stage, spec: SpecInput): Promise<TrainingJob> =>
  client.patch(trainingJobs, { namespace, name: NAME }, { spec })

/** The job that exists now has the state, and speaks of the spec that exists now. */
async function reaches(stage: Stage, state: TrainingJobState, uid?: string): Promise<TrainingJob> {
  return stage.until(`the job to be ${state}`, () => {
    const job = current(stage)
    if (uid !== undefined && job?.metadata.uid !== uid) return undefined
    const isCurrent = job?.status?.observedGeneration === job?.metadata.generation
    return isCurrent && job?.status?.state === state ? job : undefined
  })
}

/** So many workers run, all of them told that they are so many. */
async function runs(stage: Stage, size: number): Promise<void> {
  await stage.until(`${size} workers of one world to run`, () => {
    const pods = stage.world.list(Pod)
    const isRight = (pod: Pod): boolean =>
      pod.status?.phase === 'Running' &&
      pod.metadata.deletionTimestamp === undefined &&
      envOf(pod, 'WORLD_SIZE') === String(size)
    return pods.length === size && pods.every(isRight)
  })
}

async function equals<T>(what: string, actual: T, expected: T): Promise<void> {
  if (actual !== expected) throw new Error(`${what}: ${String(actual)} instead of ${String(expected)}`)
}

const completes = scenario('create, complete', async (stage) => {
  stage.kubelet.decide(succeedTogether(3))
  await create(stage, { numWorkers: 3 })
  await reaches(stage, 'Completed')
})

const restarts = scenario('fail, restart, complete', async (stage) => {
  stage.kubelet.decide(oneMeets({ exitCode: 1 }, { rank: 1, attempt: 1, size: 2 }))
  await create(stage)
  const { status } = await reaches(stage, 'Completed')
  await equals('T4: failures', status?.failures, 1)
  await equals('T4: attempts', status?.attempts, 2)
})

const exhausts = scenario('fail beyond the limit', async (stage) => {
  stage.kubelet.decide((pod, pods) =>
    oneMeets({ exitCode: 1 }, { rank: 0, attempt: attemptOf(pod), size: 2 })(pod, pods),
  )
  await create(stage, { backoffLimit: 1 })
  const { status } = await reaches(stage, 'Failed')
  await equals('T4: attempts', status?.attempts, 2)
})

const isDisrupted = scenario('preempted, restart, complete', async (stage) => {
  stage.kubelet.decide(oneMeets({ disruption: 'PreemptionByScheduler' }, { rank: 0, attempt: 1, size: 2 }))
  await create(stage)
  const { status } = await reaches(stage, 'Completed')
  await equals('T4: failures', status?.failures ?? 0, 0)
})

const suspends = scenario('suspend, resume', async (stage) => {
  await create(stage)
  await runs(stage, 2)
  await change(stage, { suspend: true })
  await reaches(stage, 'Suspended')
  await stage.until('the workers to be gone', () => stage.world.list(Pod).length === 0)
  stage.kubelet.decide(succeedTogether(2))
  await change(stage, { suspend: false })
  await reaches(stage, 'Completed')
})

const scales = scenario('scale up, scale down', async (stage) => {
  await create(stage, { numWorkers: 2, elastic: { minWorkers: 1, maxWorkers: 4 } })
  await runs(stage, 2)
  await change(stage, { numWorkers: 3 })
  await runs(stage, 3)
  await change(stage, { numWorkers: 1 })
  await runs(stage, 1)
  stage.kubelet.decide(succeedTogether(1))
  await reaches(stage, 'Completed')
})

/** An elastic gang goes on without the one that failed, and takes in its successor. */
const replaces = scenario('elastic: one fails, the others go on', async (stage) => {
  let victim: string | undefined
  stage.kubelet.decide((pod, pods) => {
    if (!isComplete(pod, pods, 3)) return undefined
    if (victim === undefined && rankOf(pod) === '1') victim = pod.metadata.uid
    return pod.metadata.uid === victim ? { exitCode: 1 } : undefined
  })
  const elastic = { minWorkers: 1, maxWorkers: 4 }
  await create(stage, { command: ['torchrun', 'train.py'], numWorkers: 3, elastic })
  await stage.until('the failure to be counted', () => current(stage)?.status?.failures === 1)
  await stage.until('three workers to run, none of them the one that failed', () => {
    const pods = stage.world.list(Pod)
    const isRight = ({ metadata, status }: Pod): boolean => metadata.uid !== victim && status?.phase === 'Running'
    return pods.length === 3 && pods.every(isRight)
  })
  stage.kubelet.decide(succeedTogether(3))
  const { status } = await reaches(stage, 'Completed')
  await equals('T4: failures', status?.failures, 1)
  await equals('T4: attempts', status?.attempts, 1)
})

const isRecreated = scenario('delete, create again under the same name', async (stage) => {
  const { client, namespace } = stage
  const { metadata } = await create(stage)
  await runs(stage, 2)
  await client.delete(trainingJobs, { namespace, name: NAME })
  const again = await stage.until('the name to be free', () => create(stage))
  await equals('another object', again.metadata.uid === metadata.uid, false)
  await runs(stage, 2)
  stage.kubelet.decide(succeedTogether(2))
  await reaches(stage, 'Completed', again.metadata.uid)
})

const isDeleted = scenario('delete while it runs', async (stage) => {
  await create(stage)
  await runs(stage, 2)
  await stage.client.delete(trainingJobs, { namespace: stage.namespace, name: NAME })
  const isRest = (kind: string): boolean => kind === PersistentVolumeClaim.kind
  await stage.until('everything but the checkpoints to be gone', () =>
    stage.world.all().every(({ kind, metadata }) => isRest(kind) || metadata.labels?.['app'] !== 'trainingjob'),
  )
})

const completesAsJob = scenario('engine job: create, complete', async (stage) => {
  stage.kubelet.decide(succeedTogether(2))
  await create(stage, { engine: 'job' })
  await reaches(stage, 'Completed')
})

const restartsAsJob = scenario('engine job: fail, restart, complete', async (stage) => {
  stage.kubelet.decide(oneMeets({ exitCode: 1 }, { rank: 1, attempt: 1, size: 2 }))
  await create(stage, { engine: 'job' })
  const { status } = await reaches(stage, 'Completed')
  await equals('T4: failures', status?.failures, 1)
})

export const trainingScenarios: readonly Scenario[] = [
  completes,
  restarts,
  exhausts,
  isDisrupted,
  suspends,
  scales,
  replaces,
  isRecreated,
  isDeleted,
  completesAsJob,
  restartsAsJob,
]
