/**
 * An edit of the spec takes effect at once while no worker of the attempt has started: the gang is recreated, which does
 * not count against backoffLimit. Once anything has run, an edit takes effect with the next attempt.
 */
import { hasStarted } from '../observe/member.ts'
import type { Snapshot } from '../observe/snapshot.ts'
import { isFinished } from '../observe/state.ts'
import { specChanged } from '../report/events.ts'
import { quantify } from '../report/wording.ts'
import { makePlan, nextAttempt, type Step } from './step.ts'

export const revise: Step = (snapshot) => {
  if (!isOutdated(snapshot)) return undefined
  const next = nextAttempt(snapshot)
  const { number, worldSize } = next.attempt
  const hasRun = snapshot.job.status?.state === 'Running' || snapshot.job.status?.state === 'Restarting'
  const message = `Spec changed before any worker started; recreating ${quantify(worldSize, 'worker')}`
  return makePlan(
    snapshot,
    { state: hasRun ? 'Restarting' : 'Initializing', reason: 'SpecChanged', message, isReady: false, ...next },
    { events: [specChanged(worldSize, number)] },
  )
}

/** Whether the gang was created from another template than that of the spec, and no pod of it has started. */
export function isOutdated({ job, engine, observed, attempt, gang }: Snapshot): boolean {
  if (isFinished(job) || job.status?.state === 'Suspending' || gang.some(hasStarted)) return false
  return hasOtherTemplate({ engine, observed, attempt, gang })
}

/** Whether some pod of the gang was created from another template than that of the spec. */
export function hasOtherTemplate({
  engine,
  observed,
  attempt,
  gang,
}: Pick<Snapshot, 'engine' | 'observed' | 'attempt' | 'gang'>): boolean {
  const roles = [...new Set(gang.map(({ role }) => role))]
  const templates = new Map(roles.map((role) => [role, engine.template(observed, attempt, role)]))
  return gang.some(({ role, template }) => template !== undefined && template !== templates.get(role))
}
