/**
 * The times of a cron schedule in its time zone. The work for one answer is bounded, whatever the schedule and however
 * long the operator was down: four steps of the cron library.
 *
 * Where a time zone changes its clocks, a time that does not exist runs right after the gap, and a time that occurs twice
 * runs once, the first time. Schedules with `*` in the hour run in every hour.
 */
import { Cron, type CronOptions } from 'croner'
import { type DueTimes, MAX_MISSED, type Timing } from '../plan/schedule/index.ts'

export interface TimesQuery {
  readonly schedule: string
  readonly timeZone: string
  readonly now: number
  /** Times up to this one are settled: that of the last run, or the creation. */
  readonly since: number
  readonly startingDeadlineSeconds?: number | undefined
}

export function timesOf(query: TimesQuery): Timing {
  const { schedule, timeZone } = query
  if (!isTimeZone(timeZone)) {
    const message = `spec.timeZone ${timeZone} is not known: write a name of the IANA database, such as Europe/Berlin`
    return { invalid: { reason: 'InvalidTimeZone', message } }
  }
  const cron = parsed(schedule, timeZone)
  return typeof cron === 'string' ? { invalid: { reason: 'InvalidSchedule', message: cron } } : dueTimes(cron, query)
}

function dueTimes(cron: Cron, { now, since: recorded, startingDeadlineSeconds }: TimesQuery): DueTimes {
  const since = plausible(recorded, now)
  // The library looks back from a full second, which it excludes.
  const due = cron.previousRuns(1, new Date((Math.floor(now / 1000) + 1) * 1000))[0]?.getTime()
  const next = cron.nextRun(new Date(Math.max(now, since)))?.getTime()
  const isDue = due !== undefined && due > since
  const earliest = Math.max(since, startingDeadlineSeconds === undefined ? 0 : now - startingDeadlineSeconds * 1000)
  return {
    ...(isDue && { due }),
    missed: isDue ? countBetween(cron, earliest, now) : 0,
    ...(next !== undefined && { next }),
  }
}

const YEAR_MS = 366 * 86_400_000

/** Replaces a recorded time that is no time, or that no clock can have shown: the library fails for such dates. */
const plausible = (time: number, now: number): number => Math.min(Math.max(time || 0, 0), now + YEAR_MS)

/** As a CronJob, estimates the number from the distance of the first two times, no further than the planner distinguishes. */
function countBetween(cron: Cron, from: number, to: number): number {
  const [first, second] = cron.nextRuns(2, new Date(from)).map((time) => time.getTime())
  if (first === undefined || first > to) return 0
  if (second === undefined || second > to) return 1
  return Math.min(Math.floor((to - first) / (second - first)) + 1, MAX_MISSED + 1)
}

/** Parsed schedules, the latest last. Parsing, and finding out that a schedule has no time, costs much more than an answer. */
const known = new Map<string, Cron | string>()
const MOST_KNOWN = 10_000

/** The schedule, or what is wrong with it. */
function parsed(schedule: string, timeZone: string): Cron | string {
  const key = `${timeZone} ${schedule}`
  const found = known.get(key) ?? parse(schedule, timeZone)
  known.delete(key)
  known.set(key, found)
  const [oldest] = known.keys()
  if (oldest !== undefined && known.size > MOST_KNOWN) known.delete(oldest)
  return found
}

function parse(schedule: string, timeZone: string): Cron | string {
  try {
    // A value with a step, such as 5/15, is valid in a CronJob: it stands for 5-59/15.
    const cron = new Cron(schedule, { ...zoneOf(timeZone), paused: true, mode: '5-part', sloppyRanges: true })
    if (cron.nextRun(new Date(EPOCH)) !== null) return cron
    return `spec.schedule ${schedule} has no time: its day does not exist in its months; change the day or the month`
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^Cron\w+: /, '') : String(error)
    return `spec.schedule ${schedule} is not valid: ${why.slice(0, MAX_MESSAGE)}; write for example 0 3 * * *`
  }
}

/** Without the rules of a zone, a step takes a tenth of the time. */
const zoneOf = (timeZone: string): CronOptions => (timeZone === 'UTC' ? { utcOffset: 0 } : { timezone: timeZone })

/** Any time: whether a schedule has times at all does not depend on it. */
const EPOCH = Date.UTC(2000, 0, 1)
const MAX_MESSAGE = 300

const zones = new Map<string, boolean>()

function isTimeZone(name: string): boolean {
  const found = zones.get(name)
  if (found !== undefined) return found
  if (zones.size > MOST_KNOWN) zones.clear()
  const isKnown = isSupported(name)
  zones.set(name, isKnown)
  return isKnown
}

function isSupported(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
