/** Scenarios of a TrainingJob. Each must end the same way wherever the operator crashes. */
import { modelDeployments, trainingJobs } from '../../../src/api/kinds.ts'
import type { TrainingJob } from '../../../src/api/trainingjob.v1.ts'
import type { TrainingJobState } from '../../../src/api/training-status.ts'
import { ConfigMap, Job, PersistentVolumeClaim, Pod, Service } from '../../../src/kube/resources.ts'
import {
  attemptOf,
  envOf,
  isComplete,
  endOne,
  endOneFirst,
  rankOf,
  type SpecInput,
  succeedTogether,
  trainingJob,
} from '../../builders/training-job.ts'
import type { Scenario, ScenarioContext } from './scenario.ts'
import type { ClusterHistory, ObservedChange } from '../oracles/oracle.ts'
import { trainingOracles } from '../oracles/training-oracles.ts'

const NAME = 'job'

export function scenario(name: string, run: Scenario['run']): Scenario {
  const kinds = [Pod, Service, ConfigMap, PersistentVolumeClaim, Job]
  return { name, primary: trainingJobs, kinds, oracles: trainingOracles, run, retries: removedGangs }
}

export const current = ({ cluster }: ScenarioContext): TrainingJob | undefined =>
  cluster.list(trainingJobs).find(({ metadata }) => metadata.name === NAME)

export const create = ({ client, namespace }: ScenarioContext, spec: SpecInput = {}): Promise<TrainingJob> =>
  client.create(trainingJobs, trainingJob(namespace, NAME, spec))

export const change = ({ client, namespace }: ScenarioContext, spec: SpecInput): Promise<TrainingJob> =>
  client.patch(trainingJobs, { namespace, name: NAME }, { spec })

/** Waits until the job has the state, and its status is of the current generation. */
export async function reaches(context: ScenarioContext, state: TrainingJobState, uid?: string): Promise<TrainingJob> {
  return context.until(`the job to be ${state}`, () => {
    const job = current(context)
    if (uid !== undefined && job?.metadata.uid !== uid) return undefined
    const isCurrent = job?.status?.observedGeneration === job?.metadata.generation
    return isCurrent && job?.status?.state === state ? job : undefined
  })
}

/** Waits until exactly this many workers run, all with this WORLD_SIZE. */
export async function runs(context: ScenarioContext, size: number): Promise<void> {
  await context.until(`${size} workers with WORLD_SIZE ${size} to run`, () => {
    const pods = context.cluster.list(Pod)
    const isExpected = (pod: Pod): boolean =>
      pod.status?.phase === 'Running' &&
      pod.metadata.deletionTimestamp === undefined &&
      envOf(pod, 'WORLD_SIZE') === String(size)
    return pods.length === size && pods.every(isExpected)
  })
}

export async function assertEquals<T>(what: string, actual: T, expected: T): Promise<void> {
  if (actual !== expected) throw new Error(`${what}: ${String(actual)} instead of ${String(expected)}`)
}

/** A gang that is created only in part, because a write was rejected, is removed. That is another attempt, but not a failure. */
export function removedGangs({ changes }: ClusterHistory): number {
  const isRemoved = ({ object, previous }: ObservedChange): boolean => {
    if (object.kind !== trainingJobs.kind || previous === undefined) return false
    const [now, before] = [object as TrainingJob, previous as TrainingJob]
    const isNext = now.status?.attempts === (before.status?.attempts ?? 1) + 1
    return isNext && /^(QuotaExceeded|Refused):/.test(now.status?.reason ?? '')
  }
  return changes.filter(isRemoved).length
}

/** The attempts, without those whose gang was removed. */
export const attemptsIn = ({ cluster }: ScenarioContext, status: TrainingJob['status']): number =>
  (status?.attempts ?? 0) - removedGangs(cluster)

const completes = scenario('create, complete', async (context) => {
  context.kubelet.decide(succeedTogether(3))
  await create(context, { numWorkers: 3 })
  await reaches(context, 'Completed')
})

const restarts = scenario('fail, restart, complete', async (context) => {
  context.kubelet.decide(endOneFirst({ exitCode: 1 }, { rank: 1, size: 2 }))
  await create(context)
  const { status } = await reaches(context, 'Completed')
  await assertEquals('T4: failures', status?.failures, 1)
  await assertEquals('T4: attempts', attemptsIn(context, status), 2)
})

const exhausts = scenario('fail beyond the limit', async (context) => {
  context.kubelet.decide((pod, pods) =>
    endOne({ exitCode: 1 }, { rank: 0, attempt: attemptOf(pod), size: 2 })(pod, pods),
  )
  await create(context, { backoffLimit: 1 })
  const { status } = await reaches(context, 'Failed')
  await assertEquals('T4: attempts', attemptsIn(context, status), 2)
})

const preempts = scenario('preempted, restart, complete', async (context) => {
  context.kubelet.decide(endOneFirst({ disruption: 'PreemptionByScheduler' }, { rank: 0, size: 2 }))
  await create(context)
  const { status } = await reaches(context, 'Completed')
  await assertEquals('T4: failures', status?.failures ?? 0, 0)
})

const suspends = scenario('suspend, resume', async (context) => {
  await create(context)
  await runs(context, 2)
  await change(context, { suspend: true })
  await reaches(context, 'Suspended')
  await context.until('the workers to be gone', () => context.cluster.list(Pod).length === 0)
  context.kubelet.decide(succeedTogether(2))
  await change(context, { suspend: false })
  await reaches(context, 'Completed')
})

const scales = scenario('scale up, scale down', async (context) => {
  await create(context, { numWorkers: 2, elastic: { minWorkers: 1, maxWorkers: 4 } })
  await runs(context, 2)
  await change(context, { numWorkers: 3 })
  await runs(context, 3)
  await change(context, { numWorkers: 1 })
  await runs(context, 1)
  context.kubelet.decide(succeedTogether(1))
  await reaches(context, 'Completed')
})

/** An elastic gang continues without the failed worker and accepts its replacement. */
const replaces = scenario('elastic: one fails, the others go on', async (context) => {
  let failing: string | undefined
  context.kubelet.decide((pod, pods) => {
    if (!isComplete(pod, pods, 3)) return undefined
    if (failing === undefined && rankOf(pod) === '1') failing = pod.metadata.uid
    return pod.metadata.uid === failing ? { exitCode: 1 } : undefined
  })
  const elastic = { minWorkers: 1, maxWorkers: 4 }
  await create(context, { command: ['torchrun', 'train.py'], numWorkers: 3, elastic })
  await context.until('the failure to be counted', () => current(context)?.status?.failures === 1)
  await context.until('three workers to run, without the failed one', () => {
    const pods = context.cluster.list(Pod)
    const isExpected = ({ metadata, status }: Pod): boolean => metadata.uid !== failing && status?.phase === 'Running'
    return pods.length === 3 && pods.every(isExpected)
  })
  context.kubelet.decide(succeedTogether(3))
  const { status } = await reaches(context, 'Completed')
  await assertEquals('T4: failures', status?.failures, 1)
  await assertEquals('T4: attempts', attemptsIn(context, status), 1)
})

const recreates = scenario('delete, create again under the same name', async (context) => {
  const { client, namespace } = context
  const { metadata } = await create(context)
  await runs(context, 2)
  await client.delete(trainingJobs, { namespace, name: NAME })
  const again = await context.until('the name to be free', () => create(context))
  await assertEquals('another object', again.metadata.uid === metadata.uid, false)
  await runs(context, 2)
  context.kubelet.decide(succeedTogether(2))
  await reaches(context, 'Completed', again.metadata.uid)
})

const deletes = scenario('delete while it runs', async (context) => {
  await create(context)
  await runs(context, 2)
  await context.client.delete(trainingJobs, { namespace: context.namespace, name: NAME })
  const isCheckpoint = (kind: string): boolean => kind === PersistentVolumeClaim.kind
  await context.until('everything but the checkpoints to be gone', () =>
    context.cluster
      .all()
      .every(({ kind, metadata }) => isCheckpoint(kind) || metadata.labels?.['app'] !== 'trainingjob'),
  )
})

const completesAsJob = scenario('engine job: create, complete', async (context) => {
  context.kubelet.decide(succeedTogether(2))
  await create(context, { engine: 'job' })
  await reaches(context, 'Completed')
})

const restartsAsJob = scenario('engine job: fail, restart, complete', async (context) => {
  context.kubelet.decide(endOneFirst({ exitCode: 1 }, { rank: 1, size: 2 }))
  await create(context, { engine: 'job' })
  const { status } = await reaches(context, 'Completed')
  await assertEquals('T4: failures', status?.failures, 1)
})

/** The image is corrected before any worker has started. */
const edits = scenario('edit before the first start', async (context) => {
  const isWrong = ({ spec }: Pod): boolean => spec?.containers[0]?.image === 'example.com/wrong'
  context.kubelet.decide((pod, pods) => (isWrong(pod) ? 'image-missing' : succeedTogether(2)(pod, pods)))
  await create(context, { image: 'example.com/wrong', backoffLimit: 0 })
  await context.until(
    'the image to be reported',
    () => current(context)?.status?.reason?.startsWith('ImagePullFailed') && context.cluster.list(Pod).length === 2,
  )
  await change(context, { image: 'example.com/right' })
  const { status } = await reaches(context, 'Completed')
  await assertEquals('T4: failures', status?.failures, 0)
  await assertEquals('T4: attempts', attemptsIn(context, status), 2)
})

/** The first gang makes no progress. Where a slow machine delays the next one, that is a stall as well: each counts once. */
const stalls = scenario('stall, restart, complete', async (context) => {
  let first: number | undefined
  context.kubelet.decide((pod, pods) => {
    if (!isComplete(pod, pods, 2)) return undefined
    first ??= attemptOf(pod)
    return attemptOf(pod) === first ? undefined : { exitCode: 0 }
  })
  await create(context, { stall: { timeoutSeconds: 3, action: 'Restart' } })
  const { status } = await reaches(context, 'Completed')
  const { failures = 0, lastFailure } = status ?? {}
  await assertEquals('T4: the stall is counted', failures >= 1 && lastFailure?.reason === 'Stalled', true)
  await assertEquals('T4: attempts', attemptsIn(context, status), failures + 1)
})
/** The weight depends on whether the model exists, which its creation changes. */
const deploys: Scenario = {
  ...scenario('complete, deploy', async (context) => {
    context.kubelet.decide(succeedTogether(1))
    const deploy = { name: 'model', version: 'v1', runtime: 'triton' }
    await create(context, { numWorkers: 1, output: { path: 'model', deploy } })
    const { status } = await context.until('the model to be deployed', () => {
      const job = current(context)
      return job?.status?.output?.deployed ? job : undefined
    })
    await assertEquals('weight', status?.output?.deployed?.weight, 100)
    const models = context.cluster.list(modelDeployments)
    const versions = models.flatMap(({ spec }) => spec.versions.map(({ name, weight }) => `${name} ${weight}`))
    await assertEquals('versions', versions.join(', '), 'v1 100')
  }),
  kinds: [Pod, Service, ConfigMap, PersistentVolumeClaim, Job, modelDeployments],
}
const FOUND =
  '{"latest":{"name":"step-10","step":10,"time":"2026-01-01T00:00:00.000Z"},"count":1,"pruned":0,"imported":false}'

/** The first pod that lists the checkpoints fails. Whatever starts after the first attempt has the checkpoint of the second. */
const resumesFromCheckpoint = scenario('fail, list the checkpoints, resume', async (context) => {
  let failing: string | undefined
  context.kubelet.decideListing(({ metadata }) => {
    failing ??= metadata.uid
    return metadata.uid === failing
      ? { exitCode: 1, message: '{"error":"no access"}' }
      : { exitCode: 0, message: FOUND }
  })
  context.kubelet.decide(endOneFirst({ exitCode: 1 }, { rank: 1, size: 2 }))
  await create(context)
  const { status } = await reaches(context, 'Completed')
  await assertEquals('T8: recorded', status?.checkpoint?.resumedFrom, '/checkpoints/step-10')
  const isResuming = (pod: Pod): boolean => rankOf(pod) !== '' && attemptOf(pod) > 1
  const started = context.cluster.changes.flatMap(({ type, object }) =>
    type === 'created' && object.kind === Pod.kind && isResuming(object) ? [object as Pod] : [],
  )
  for (const pod of started)
    await assertEquals('T8: resumed', envOf(pod, 'RESUME_FROM_CHECKPOINT'), '/checkpoints/step-10')
})

export const trainingScenarios: readonly Scenario[] = [
  completes,
  restarts,
  exhausts,
  preempts,
  suspends,
  scales,
  replaces,
  recreates,
  deletes,
  completesAsJob,
  restartsAsJob,
  edits,
  stalls,
  deploys,
  resumesFromCheckpoint,
]
