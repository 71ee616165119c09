/** TrainingJobs as tests write them, and what tests ask about them. */
import type { TrainingJob, TrainingJobSpec } from '../src/api/trainingjob.v1.ts'
import type { Pod } from '../src/kube/resources.ts'
import { ATTEMPT_LABEL, INDEX_LABEL, JOB_UID_LABEL, ROLE_LABEL } from '../src/plan/training/names.ts'
import type { Decide, Fate } from './kubelet.ts'

/** As a user writes it: what is left out, the server fills in. */
export type SpecInput = Partial<Omit<TrainingJobSpec, 'checkpoint'>> & { readonly checkpoint?: object }

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

/** The pods that train together with this one, itself included. */
export function gangOf(pod: Pod, pods: readonly Pod[]): readonly Pod[] {
  const isPeer = (other: Pod): boolean => ownerOf(other) === ownerOf(pod) && attemptOf(other) === attemptOf(pod)
  return pods.filter((other) => isPeer(other) && other.metadata.deletionTimestamp === undefined)
}

/** All `size` of the gang have started. */
export function isComplete(pod: Pod, pods: readonly Pod[], size: number): boolean {
  return gangOf(pod, pods).filter(({ status }) => (status?.phase ?? 'Pending') !== 'Pending').length >= size
}

/** Once all are there, they are done. */
export function succeedTogether(size: number): Decide {
  return (pod, pods) => (isComplete(pod, pods, size) ? { exitCode: 0 } : undefined)
}

/** Once all are there, one rank of one attempt meets its fate; the other attempts succeed. */
export function oneMeets(fate: Fate, { rank, attempt, size }: { rank: number; attempt: number; size: number }): Decide {
  return (pod, pods) => {
    if (!isComplete(pod, pods, size)) return undefined
    if (attemptOf(pod) !== attempt) return { exitCode: 0 }
    return rankOf(pod) === String(rank) ? fate : undefined
  }
}
