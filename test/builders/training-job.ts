/** Builds TrainingJobs, and reads the labels and environment of their pods. */
import type { TrainingJob, TrainingJobSpec } from '../../src/api/trainingjob.v1.ts'
import type { Pod } from '../../src/kube/resources.ts'
import { ATTEMPT_LABEL, INDEX_LABEL, JOB_UID_LABEL, ROLE_LABEL } from '../../src/plan/training/index.ts'
import type { Decide, PodOutcome } from '../fakes/kubelet.ts'

/** As a user writes it: the server sets the defaults. */
export type SpecInput = Partial<Omit<TrainingJobSpec, 'checkpoint' | 'elastic'>> & {
  readonly checkpoint?: object
  readonly elastic?: object
}

export function trainingJob(namespace: string, name: string, spec: SpecInput = {}): TrainingJob {
  const image = { image: 'example.com/trainer:1', command: ['train'], numWorkers: 2, gpusPerWorker: 0 }
  const object = {
    apiVersion: 'ml.example.com/v1',
    kind: 'TrainingJob',
    metadata: { namespace, name },
    spec: { ...image, ...spec },
  }
  return object as TrainingJob
}

const COMPLETION_INDEX = 'batch.kubernetes.io/job-completion-index'

export const attemptOf = (pod: Pod): number => Number(pod.metadata.labels?.[ATTEMPT_LABEL])
export const ownerOf = (pod: Pod): string => pod.metadata.labels?.[JOB_UID_LABEL] ?? ''
export const roleOf = (pod: Pod): string => pod.metadata.labels?.[ROLE_LABEL] ?? ''
export const rankOf = (pod: Pod): string =>
  pod.metadata.labels?.[COMPLETION_INDEX] ?? pod.metadata.labels?.[INDEX_LABEL] ?? ''

export function envOf(pod: Pod, name: string): string | undefined {
  return pod.spec?.containers?.[0]?.env?.find((variable) => variable.name === name)?.value
}

/** The gang of a pod: the pods of its attempt, itself included. */
export function gangOf(pod: Pod, pods: readonly Pod[]): readonly Pod[] {
  const isPeer = (other: Pod): boolean => ownerOf(other) === ownerOf(pod) && attemptOf(other) === attemptOf(pod)
  return pods.filter((other) => isPeer(other) && other.metadata.deletionTimestamp === undefined)
}

/** Whether all `size` pods of the gang have started. */
export function isComplete(pod: Pod, pods: readonly Pod[], size: number): boolean {
  return gangOf(pod, pods).filter(({ status }) => (status?.phase ?? 'Pending') !== 'Pending').length >= size
}

/** All pods succeed once the whole gang has started. */
export function succeedTogether(size: number): Decide {
  return (pod, pods) => (isComplete(pod, pods, size) ? { exitCode: 0 } : undefined)
}

/** One rank of one attempt ends this way once the whole gang has started. The other attempts succeed. */
export function endOne(
  outcome: PodOutcome,
  { rank, attempt, size }: { rank: number; attempt: number; size: number },
): Decide {
  return (pod, pods) => {
    if (!isComplete(pod, pods, size)) return undefined
    if (attemptOf(pod) !== attempt) return { exitCode: 0 }
    return rankOf(pod) === String(rank) ? outcome : undefined
  }
}

/** As `endOne`, for the first gang that starts whole, whatever its attempt. */
export function endOneFirst(outcome: PodOutcome, { rank, size }: { rank: number; size: number }): Decide {
  let first: number | undefined
  return (pod, pods) => {
    if (!isComplete(pod, pods, size)) return undefined
    first ??= attemptOf(pod)
    return endOne(outcome, { rank, attempt: first, size })(pod, pods)
  }
}
