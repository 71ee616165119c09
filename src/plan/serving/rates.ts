/** Live traffic, as the status shows it: all figures of one moment, and others only when they tell something new. */
import type { VersionRates } from '../../api/router-report.ts'
import type { ServingStatus } from '../../api/modeldeployment-parts.ts'
import type { Scene } from './scene.ts'
import type { Routing } from './routing.ts'

type Shown = NonNullable<ServingStatus['metrics']>

export interface ShownRates {
  readonly model?: Shown
  readonly versions: ReadonlyMap<string, Shown>
}

/** Only the router counts: what it said last stays, as long as there is one. */
export function ratesOf({ observed: { rates }, known }: Scene, { ways }: Routing): ShownRates {
  const before = knownRates(known)
  if (!rates) return ways.some(({ name }) => name === 'router') ? before : { versions: new Map() }
  const model = totalOf([...rates.values()])
  const versions = new Map([...rates].map(([version, rate]) => [version, shown(rate)]))
  const now = { ...(model && { model }), versions }
  return isNews(before, now) ? now : before
}

function knownRates({ metrics, activeVersions = [] }: ServingStatus): ShownRates {
  const versions = activeVersions.flatMap(({ name, metrics: own }) => (own ? [[name, own] as const] : []))
  return { ...(metrics && { model: metrics }), versions: new Map(versions) }
}

/** Traffic is never twice the same. A status that followed every breath of it would be written without end. */
function isNews(before: ShownRates, now: ShownRates): boolean {
  const names = new Set([...before.versions.keys(), ...now.versions.keys()])
  return (
    isOther(before.model, now.model) ||
    [...names].some((name) => isOther(before.versions.get(name), now.versions.get(name)))
  )
}

const NOTEWORTHY_SHARE = 0.1
/** Below this a difference is no news, whatever its share. */
const LEAST = { requestsPerSecond: 0.1, averageLatencyMs: 1, errorRate: 0.001 }

function isOther(before: Shown | undefined, now: Shown | undefined): boolean {
  if (!before || !now) return before !== now
  return (['requestsPerSecond', 'averageLatencyMs', 'errorRate'] as const).some((figure) => {
    const [then, here] = [before[figure], now[figure]]
    if (then === undefined || here === undefined) return then !== here
    const isZero = (then === 0) !== (here === 0)
    return isZero || Math.abs(here - then) > Math.max(LEAST[figure], NOTEWORTHY_SHARE * then)
  })
}

/** Over all versions: latency and errors count by requests. */
function totalOf(rates: readonly VersionRates[]): Shown | undefined {
  if (rates.length === 0) return undefined
  const requestsPerSecond = rates.reduce((sum, rate) => sum + rate.requestsPerSecond, 0)
  const mean = (of: (rate: VersionRates) => number | undefined): number =>
    rates.reduce((sum, rate) => sum + (of(rate) ?? 0) * rate.requestsPerSecond, 0) / requestsPerSecond
  if (requestsPerSecond === 0) return { requestsPerSecond }
  return shown({
    requestsPerSecond,
    averageLatencyMs: mean(({ averageLatencyMs }) => averageLatencyMs),
    errorRate: mean(({ errorRate }) => errorRate),
  })
}

/** As precise as people read it. */
function shown({ requestsPerSecond, averageLatencyMs, errorRate }: VersionRates): Shown {
  return {
    requestsPerSecond: rounded(requestsPerSecond, 2),
    ...(averageLatencyMs !== undefined && { averageLatencyMs: rounded(averageLatencyMs, 1) }),
    ...(errorRate !== undefined && { errorRate: rounded(errorRate, 4) }),
  }
}

const rounded = (value: number, digits: number): number => Number(value.toFixed(digits))
