/**
 * Pods that no scheduler has considered. Within seconds a scheduler finds a node for a pod, or says in its conditions why not. A
 * scheduler that does not run says nothing, nor does one that ignores a pod, for example because its queue does not exist.
 */
import type { Pod } from '../../../kube/resources.ts'
import { millis } from '../../time.ts'
import type { TrainingObserved } from './observed.ts'

/** How long a scheduler may need. It considers many pods one after the other. */
export const SCHEDULER_PATIENCE_MS = 120_000

/** Whether the scheduler of the pod has had enough time and said nothing. */
export const isIgnored = (pod: Pod, now: number): boolean => patienceLeft(pod, now) === 0

/** When a pod can be ignored; undefined if a scheduler has considered all, or it is known. */
export function untilIgnored({ pods, now }: Pick<TrainingObserved, 'pods' | 'now'>): number | undefined {
  const waits = pods.map((pod) => patienceLeft(pod, now) ?? 0).filter((wait) => wait > 0)
  return waits.length === 0 ? undefined : Math.min(...waits)
}

function patienceLeft(pod: Pod, now: number): number | undefined {
  const created = millis(pod.metadata.creationTimestamp)
  if (created === undefined || isConsidered(pod)) return undefined
  return Math.max(0, created + SCHEDULER_PATIENCE_MS - now)
}

function isConsidered({ metadata, spec, status }: Pod): boolean {
  const { phase = 'Pending', conditions = [] } = status ?? {}
  if (phase !== 'Pending' || metadata.deletionTimestamp !== undefined || spec?.nodeName !== undefined) return true
  return conditions.some(({ type }) => type === 'PodScheduled')
}
