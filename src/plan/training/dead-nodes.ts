/**
 * Pods on nodes that no longer answer. Such a pod can be deleted but never ends: nobody is there to say that it has. After
 * a while it is given up, or the job would wait for ever. That is a bet that the node is dead and not only cut off;
 * `deadNodeMs` is how long we wait before making it.
 */
import { soonest } from '../plan.ts'
import type { Member } from './member.ts'
import type { TrainingObserved } from './observed.ts'
import { millis } from '../time.ts'

/** What a node that has just been created may need to be seen by us. */
const UNSEEN_NODE_MS = 60_000

export interface Stuck {
  readonly force: readonly Member[]
  readonly requeueAfterMs?: number
}

/** Members whose deletion is overdue, on nodes that are gone for good. */
export function stuckOf(observed: TrainingObserved, members: readonly Member[]): Stuck {
  const waits = members.map((member) => ({ member, wait: giveUpIn(observed, member) }))
  const later = soonest(...waits.map(({ wait }) => (wait === undefined || wait <= 0 ? undefined : wait)))
  return {
    force: waits.filter(({ wait }) => wait !== undefined && wait <= 0).map(({ member }) => member),
    ...(later !== undefined && { requeueAfterMs: later }),
  }
}

/** Milliseconds until a member that is being deleted may be given up; undefined if its node will see to it. */
function giveUpIn(observed: TrainingObserved, { pod }: Member): number | undefined {
  const due = millis(pod?.metadata.deletionTimestamp)
  const nodeName = pod?.spec?.nodeName
  if (due === undefined || nodeName === undefined) return undefined
  const node = observed.nodes.find(({ name }) => name === nodeName)
  if (node?.ready) return undefined
  const silentUntil = node ? node.since + observed.config.deadNodeMs : due + UNSEEN_NODE_MS
  return Math.max(due, silentUntil) - observed.now
}

/** Whether a member runs on a node that has been silent for too long to be waited for. */
export function isOnDeadNode({ nodes, now, config }: TrainingObserved, { pod }: Member): boolean {
  const node = nodes.find(({ name }) => name === pod?.spec?.nodeName)
  return node !== undefined && !node.ready && now - node.since >= config.deadNodeMs
}
