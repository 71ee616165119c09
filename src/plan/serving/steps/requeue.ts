/** When to look again although nothing was observed to change. */
import { earliest } from '../../requeue.ts'
import type { Decisions } from '../decisions.ts'
import type { ModelView } from '../observe/view.ts'

/** Proxies cannot be watched: they are asked again soon while they converge. */
const SETTLING_MS = 1000

export function requeueAfter(
  { now, observed: { measured } }: ModelView,
  { routing, versions, rollout }: Decisions,
): number | undefined {
  const ends = versions.map(({ retirement }) => retirement.endsAt)
  const evictions = versions.map(({ replacement }) => replacement.wakeAt)
  const drains = [...ends, ...evictions, routing.drainEndsAt, rollout?.wakeAt].map((end) =>
    end === undefined ? undefined : end - now,
  )
  const polls = routing.active.map(({ provider }) => provider.pollMs)
  const renewal = measured?.isAsked ? measured.pollMs : undefined
  return earliest(...drains, renewal, routing.isSettling ? SETTLING_MS : undefined, ...polls)
}
