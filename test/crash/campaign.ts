/**
 * Every plan of a scenario: first without a fault, for reference, then once for each write and each way to die at it.
 * Plans run side by side; none knows of another.
 */
import { Reference } from './differential.ts'
import { type CrashPoint, describePoint, MODES } from './killer.ts'
import { type Lab, type Outcome, runPlan, type Scenario } from './run.ts'

export interface CampaignOptions {
  /** Which of the plans to run: all, unless told otherwise. */
  readonly choose?: (point: CrashPoint, index: number) => boolean
}

export interface Report {
  readonly scenario: string
  readonly plans: number
  /** Plans in which the program really died; a run with fewer writes than the reference may miss the last points. */
  readonly deaths: number
  readonly writes: number
  readonly violations: readonly string[]
}

export async function campaign(lab: Lab, scenario: Scenario, options: CampaignOptions = {}): Promise<Report> {
  const run = (...at: CrashPoint[]): Promise<Outcome> => lab.places.within(() => runPlan(lab, scenario, at))
  const [first, second] = await Promise.all([run(), run()])
  const reference = new Reference([first, second])
  const writes = Math.max(first.writes.length, second.writes.length)
  const points = pointsOf(writes).filter((point, index) => options.choose?.(point, index) ?? true)
  const outcomes = await Promise.all(points.map((point) => run(point)))
  const faultless = [first, second].flatMap(({ violations }) => violations.map((line) => `no fault: ${line}`))
  const faulty = outcomes.flatMap((outcome, index) => complaints(points[index] as CrashPoint, outcome, reference))
  return {
    scenario: scenario.name,
    plans: points.length + 2,
    deaths: outcomes.reduce((sum, { deaths }) => sum + deaths, 0),
    writes,
    violations: [...faultless, ...faulty].map((line) => `${scenario.name}: ${line}`),
  }
}

export function pointsOf(writes: number): CrashPoint[] {
  return Array.from({ length: writes }, (_, index) => index + 1).flatMap((write) =>
    MODES.map((mode) => ({ write, mode })),
  )
}

function complaints(point: CrashPoint, outcome: Outcome, reference: Reference): string[] {
  const at = outcome.writes[point.write - 1] ?? 'not reached'
  const wrong = [...outcome.violations, ...reference.differences(outcome)]
  return wrong.map((line) => `${describePoint(point)} (${at}): ${line}`)
}
