/**
 * Pods on nodes that do not respond. Such a pod terminates forever, because no kubelet confirms its end. After
 * `deadNodeMs` it is deleted by force, or the job would wait forever. This assumes that the node is dead and not only
 * partitioned.
 */
import { earliest } from '../../requeue.ts'
import { millis } from '../../time.ts'
import type { Member } from './member.ts'
import type { TrainingObserved } from './observed.ts'

/** How long a new node may take to appear in the cache. */
const NODE_CACHE_LAG_MS = 60_000

export interface ForceDeletions {
  readonly force: readonly Member[]
  readonly requeueAfterMs?: number
}

/** Members to delete by force now, and when to look at the others again. */
export function forceDeletions(observed: TrainingObserved, members: readonly Member[]): ForceDeletions {
  const waits = members.map((member) => ({ member, wait: forceDeleteIn(observed, member) }))
  const later = earliest(...waits.map(({ wait }) => (wait === undefined || wait <= 0 ? undefined : wait)))
  return {
    force: waits.filter(({ wait }) => wait !== undefined && wait <= 0).map(({ member }) => member),
    ...(later !== undefined && { requeueAfterMs: later }),
  }
}

/** Milliseconds until a terminating member is deleted by force; undefined if its node will end it. */
function forceDeleteIn(observed: TrainingObserved, { pod }: Member): number | undefined {
  const due = millis(pod?.metadata.deletionTimestamp)
  const nodeName = pod?.spec?.nodeName
  if (due === undefined || nodeName === undefined) return undefined
  const node = observed.nodes.find(({ name }) => name === nodeName)
  if (node?.ready) return undefined
  const deadAt = node ? node.since + observed.config.deadNodeMs : due + NODE_CACHE_LAG_MS
  return Math.max(due, deadAt) - observed.now
}

/** Whether the node of a member has been not ready for `deadNodeMs`. */
export function isOnDeadNode({ nodes, now, config }: TrainingObserved, { pod }: Member): boolean {
  const node = nodes.find(({ name }) => name === pod?.spec?.nodeName)
  return node !== undefined && !node.ready && now - node.since >= config.deadNodeMs
}
