/** Oracles for a TrainingJob and its children. */
import type { TrainingJob } from '../../../src/api/trainingjob.v1.ts'
import type { KubeObject } from '../../../src/kube/object.ts'
import { isOlder } from '../../../src/kube/resource-version.ts'
import { PersistentVolumeClaim, Pod } from '../../../src/kube/resources.ts'
import { attemptOf, envOf, ownerOf, rankOf, roleOf } from '../../builders/training-job.ts'
import { isListing } from '../../fakes/kubelet.ts'
import type { Oracle, ObservedChange, ClusterView } from './oracle.ts'

const isPod = (object: KubeObject): object is Pod => object.kind === 'Pod'
const isJob = (object: KubeObject): object is TrainingJob => object.kind === 'TrainingJob'
const isOurs = ({ metadata }: KubeObject): boolean => metadata.labels?.['app'] === 'trainingjob'

export function trainingOracles(): Oracle[] {
  return [
    onePodPerRank,
    oneAttemptAtATime,
    oneWorldSize,
    exactRetries,
    finalStates(),
    keptCheckpoints,
    owned,
    generations,
  ]
}

/** T1: at most one pod per job, role and rank. A terminating pod counts. */
const onePodPerRank: Oracle = {
  name: 'T1',
  onChange: onCreatedPod((pod, cluster) => {
    const twins = cluster.list(Pod).filter((other) => identityOf(other) === identityOf(pod))
    return twins.length > 1 ? `${pod.metadata.name}: ${twins.length} pods of ${identityOf(pod)}` : undefined
  }),
}

const identityOf = (pod: Pod): string => `${ownerOf(pod)} ${roleOf(pod)} ${rankOf(pod)}`

/** T2: an attempt starts when every pod of the attempt before is gone, also of an earlier job of the same name. */
const oneAttemptAtATime: Oracle = {
  name: 'T2',
  onChange: onCreatedPod((pod, cluster) => {
    const isOther = (other: Pod): boolean => ownerOf(other) !== ownerOf(pod) || attemptOf(other) !== attemptOf(pod)
    const hasSameName = (other: Pod): boolean =>
      other.metadata.labels?.['trainingjob'] === pod.metadata.labels?.['trainingjob']
    const stale = cluster.list(Pod).find((other) => hasSameName(other) && isOther(other))
    return (
      stale &&
      `${pod.metadata.name} of attempt ${attemptOf(pod)} was created beside a pod of attempt ${attemptOf(stale)}`
    )
  }),
}

/** T3: all ranks of an attempt have the same WORLD_SIZE. The pod that lists the checkpoints has no rank. */
const oneWorldSize: Oracle = {
  name: 'T3',
  onChange: onCreatedPod((pod, cluster) => {
    const peers = cluster
      .list(Pod)
      .filter((other) => ownerOf(other) === ownerOf(pod) && attemptOf(other) === attemptOf(pod) && !isListing(other))
    const sizes = new Set(peers.map((peer) => envOf(peer, 'WORLD_SIZE')))
    return sizes.size > 1 ? `attempt ${attemptOf(pod)} has WORLD_SIZE ${[...sizes].join(' and ')}` : undefined
  }),
}

/** T4: attempts and failures never decrease, failures stay within the limit, no pod is counted twice. */
const exactRetries: Oracle = {
  name: 'T4',
  onChange: onJob((job, previous) => {
    const now = countsOf(job)
    const before = countsOf(previous)
    if (now.failures < before.failures) return `failures decreased from ${before.failures} to ${now.failures}`
    if (now.attempts < before.attempts) return `attempts decreased from ${before.attempts} to ${now.attempts}`
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

/** T5: a terminal state is final, and no pod is created after it. resourceVersions give the order. */
function finalStates(): Oracle {
  const endedAt = new Map<string, string>()
  const restarted = onJob((job, previous) => {
    const [before, now] = [stateOf(previous), stateOf(job)]
    if (before === now) return undefined
    if (isTerminal(before)) return `${before} became ${now}`
    if (isTerminal(now)) endedAt.set(job.metadata.uid ?? '', job.metadata.resourceVersion ?? '')
    return undefined
  })
  const late = onCreatedPod((pod) => {
    const end = endedAt.get(ownerOf(pod))
    const isLate = end !== undefined && isOlder(end, pod.metadata.resourceVersion ?? '0')
    return isLate ? `${pod.metadata.name} was created after the job ended` : undefined
  })
  return { name: 'T5', onChange: (change, cluster) => restarted(change, cluster) ?? late(change, cluster) }
}

/** T6: checkpoint volumes have no owner and are never deleted, unless the spec says so. */
const keptCheckpoints: Oracle = {
  name: 'T6',
  onChange: ({ type, object }) => {
    if (object.kind !== PersistentVolumeClaim.kind) return undefined
    if (type === 'deleted') return `${object.metadata.name} was deleted`
    return object.metadata.ownerReferences?.length
      ? `${object.metadata.name} has an owner and would be deleted with it`
      : undefined
  },
}

/** G2: every child has a controller, claims aside. */
const owned: Oracle = {
  name: 'G2',
  onChange: ({ type, object }) => {
    if (type !== 'created' || !isOurs(object) || isJob(object) || object.kind === PersistentVolumeClaim.kind)
      return undefined
    const isControlled = object.metadata.ownerReferences?.some(({ controller }) => controller)
    return isControlled ? undefined : `${object.kind}/${object.metadata.name} has no controller`
  },
}

/** G3: `observedGeneration` exists and never decreases. */
const generations: Oracle = {
  name: 'G3',
  onChange: onJob((job, previous) => {
    const observed = job.status?.observedGeneration ?? 0
    if (observed > (job.metadata.generation ?? 0)) return `observed ${observed} of ${job.metadata.generation}`
    return observed < (previous?.status?.observedGeneration ?? 0) ? 'observedGeneration decreased' : undefined
  }),
}

type OnChange = NonNullable<Oracle['onChange']>

function onCreatedPod(judge: (pod: Pod, cluster: ClusterView) => string | undefined): OnChange {
  return ({ type, object }, cluster) =>
    type === 'created' && isPod(object) && isOurs(object) ? judge(object, cluster) : undefined
}

function onJob(judge: (job: TrainingJob, previous: TrainingJob | undefined) => string | undefined): OnChange {
  return ({ type, object, previous }: ObservedChange) =>
    type !== 'deleted' && isJob(object) ? judge(object, previous as TrainingJob | undefined) : undefined
}
