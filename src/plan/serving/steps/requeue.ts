/** When to look again although nothing was observed to change. */
import { earliest } from '../../requeue.ts'
import type { Decisions } from '../decisions.ts'
import type { ModelView } from '../observe/view.ts'

/** Proxies cannot be watched: they are asked again soon while they converge. */
const SETTLING_MS = 1000

export function requeueAfter({ now }: ModelView, { routing, versions }: Decisions): number | undefined {
  const ends = versions.map(({ retirement }) => retirement.endsAt)
  const drains = [...ends, routing.drainEndsAt].map((end) => (end === undefined ? undefined : end - now))
  const polls = routing.active.map(({ provider }) => provider.pollMs)
  return earliest(...drains, routing.isSettling ? SETTLING_MS : undefined, ...polls)
}
