/** What must hold for a TrainingJob and everything below it at every moment, whoever died when. */
import type { TrainingJob } from '../../src/api/trainingjob.v1.ts'
import type { KubeObject } from '../../src/kube/object.ts'
import { isOlder } from '../../src/kube/resource-version.ts'
import { PersistentVolumeClaim, Pod } from '../../src/kube/resources.ts'
import { attemptOf, envOf, ownerOf, rankOf, roleOf } from '../training-job.ts'
import type { Oracle, Sighting, World } from './witness.ts'

const isPod = (object: KubeObject): object is Pod => object.kind === 'Pod'
const isJob = (object: KubeObject): object is TrainingJob => object.kind === 'TrainingJob'
const isOurs = ({ metadata }: KubeObject): boolean => metadata.labels?.['app'] === 'trainingjob'

export function trainingOracles(): Oracle[] {
  return [
    oneOfEachRank,
    oneAttemptAtATime,
    oneWorldSize,
    exactRetries,
    theEndIsTheEnd(),
    checkpointsStay,
    owned,
    generations,
  ]
}

/** T1: at most one pod that is not gone for each job, role and rank; one that is going still counts. */
const oneOfEachRank: Oracle = {
  name: 'T1',
  see: onCreatedPod((pod, world) => {
    const twins = world.list(Pod).filter((other) => identityOf(other) === identityOf(pod))
    return twins.length > 1 ? `${pod.metadata.name}: ${twins.length} pods of ${identityOf(pod)}` : undefined
  }),
}

const identityOf = (pod: Pod): string => `${ownerOf(pod)} ${roleOf(pod)} ${rankOf(pod)}`

/** T2: an attempt starts when all of the one before is gone, also when that was of a job that had the name before. */
const oneAttemptAtATime: Oracle = {
  name: 'T2',
  see: onCreatedPod((pod, world) => {
    const isOther = (other: Pod): boolean => ownerOf(other) !== ownerOf(pod) || attemptOf(other) !== attemptOf(pod)
    const isNamesake = (other: Pod): boolean =>
      other.metadata.labels?.['trainingjob'] === pod.metadata.labels?.['trainingjob']
    const stale = world.list(Pod).find((other) => isNamesake(other) && isOther(other))
    return stale && `${pod.metadata.name} of attempt ${attemptOf(pod)} beside one of attempt ${attemptOf(stale)}`
  }),
}

/** T3: all ranks of an attempt were told the same size of the world. */
const oneWorldSize: Oracle = {
  name: 'T3',
  see: onCreatedPod((pod, world) => {
    const peers = world
      .list(Pod)
      .filter((other) => ownerOf(other) === ownerOf(pod) && attemptOf(other) === attemptOf(pod))
    const sizes = new Set(peers.map((peer) => envOf(peer, 'WORLD_SIZE')))
    return sizes.size > 1 ? `attempt ${attemptOf(pod)} has WORLD_SIZE ${[...sizes].join(' and ')}` : undefined
  }),
}

/** T4: attempts and failures never fall, failures stay within the limit, no pod is counted twice. */
const exactRetries: Oracle = {
  name: 'T4',
  see: onJob((job, previous) => {
    const now = countsOf(job)
    const before = countsOf(previous)
    if (now.failures < before.failures) return `failures fell from ${before.failures} to ${now.failures}`
    if (now.attempts < before.attempts) return `attempts fell from ${before.attempts} to ${now.attempts}`
    if (now.failures > job.spec.backoffLimit + 1) return `${now.failures} failures, limit ${job.spec.backoffLimit}`
    const { failedPods = [] } = job.status ?? {}
    return new Set(failedPods).size < failedPods.length ? 'a pod is counted twice' : undefined
  }),
}

function countsOf(job: TrainingJob | undefined): { readonly failures: number; readonly attempts: number } {
  return { failures: job?.status?.failures ?? 0, attempts: job?.status?.attempts ?? 0 }
}

const stateOf = (job: TrainingJob | undefined): string => job?.status?.state ?? 'Pending'
const isTerminal = (state: string): boolean => state === 'Completed' || state === 'Failed'

/** T5: nothing leads out of a terminal state, and no pod is made after it. Versions tell what came first. */
function theEndIsTheEnd(): Oracle {
  const endedAt = new Map<string, string>()
  const resurrected = onJob((job, previous) => {
    const [before, now] = [stateOf(previous), stateOf(job)]
    if (before === now) return undefined
    if (isTerminal(before)) return `${before} became ${now}`
    if (isTerminal(now)) endedAt.set(job.metadata.uid ?? '', job.metadata.resourceVersion ?? '')
    return undefined
  })
  const late = onCreatedPod((pod) => {
    const end = endedAt.get(ownerOf(pod))
    const isLate = end !== undefined && isOlder(end, pod.metadata.resourceVersion ?? '0')
    return isLate ? `${pod.metadata.name} was made after the end` : undefined
  })
  return { name: 'T5', see: (sighting, world) => resurrected(sighting, world) ?? late(sighting, world) }
}

/** T6: checkpoints are nobody's child and are never deleted, unless the spec says so. */
const checkpointsStay: Oracle = {
  name: 'T6',
  see: ({ type, object }) => {
    if (object.kind !== PersistentVolumeClaim.kind) return undefined
    if (type === 'deleted') return `${object.metadata.name} was deleted`
    return object.metadata.ownerReferences?.length ? `${object.metadata.name} would go with its owner` : undefined
  },
}

/** G2: everything we make is controlled, claims aside. */
const owned: Oracle = {
  name: 'G2',
  see: ({ type, object }) => {
    if (type !== 'created' || !isOurs(object) || isJob(object) || object.kind === PersistentVolumeClaim.kind)
      return undefined
    const isControlled = object.metadata.ownerReferences?.some(({ controller }) => controller)
    return isControlled ? undefined : `${object.kind}/${object.metadata.name} has no controller`
  },
}

/** G3: the generation that a status speaks of exists, and never goes back. */
const generations: Oracle = {
  name: 'G3',
  see: onJob((job, previous) => {
    const observed = job.status?.observedGeneration ?? 0
    if (observed > (job.metadata.generation ?? 0)) return `observed ${observed} of ${job.metadata.generation}`
    return observed < (previous?.status?.observedGeneration ?? 0) ? 'the observed generation went back' : undefined
  }),
}

type See = NonNullable<Oracle['see']>

function onCreatedPod(judge: (pod: Pod, world: World) => string | undefined): See {
  return ({ type, object }, world) =>
    type === 'created' && isPod(object) && isOurs(object) ? judge(object, world) : undefined
}

function onJob(judge: (job: TrainingJob, previous: TrainingJob | undefined) => string | undefined): See {
  return ({ type, object, previous }: Sighting) =>
    type !== 'deleted' && isJob(object) ? judge(object, previous as TrainingJob | undefined) : undefined
}
