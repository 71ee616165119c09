/** Live traffic in the status: figures of one moment, replaced only when they differ noticeably. */
import type { VersionRates } from '../../../api/router-report.ts'
import type { ServingStatus } from '../../../api/serving-status.ts'
import { measuredRates } from '../measure/answers.ts'
import type { ModelView } from '../observe/view.ts'
import type { Routing } from '../steps/routing.ts'

type Shown = NonNullable<ServingStatus['metrics']>

export interface ShownRates {
  readonly model?: Shown
  readonly versions: ReadonlyMap<string, Shown>
}

/** What proxies or Prometheus have counted. The last figures stay as long as one of them is there to count. */
export function ratesOf({ observed, recorded }: ModelView, { active }: Routing): ShownRates {
  const before = recordedRates(recorded)
  const hasProxy = active.some(({ provider }) => provider.proxyName)
  const measured = hasProxy ? undefined : observed.measured
  const rates = observed.rates ?? (measured && measuredRates(measured))
  const isCounted = hasProxy || measured?.isAsked === true
  if (!rates) return isCounted ? before : { versions: new Map() }
  const model = totalOf([...rates.values()])
  const versions = new Map([...rates].map(([version, rate]) => [version, shown(rate)]))
  const now = { ...(model && { model }), versions }
  return isNoticeable(before, now) ? now : before
}

function recordedRates({ metrics, activeVersions = [] }: ServingStatus): ShownRates {
  const versions = activeVersions.flatMap(({ name, metrics: own }) => (own ? [[name, own] as const] : []))
  return { ...(metrics && { model: metrics }), versions: new Map(versions) }
}

/** Figures change with every request. A status that followed them exactly would be written without end. */
function isNoticeable(before: ShownRates, now: ShownRates): boolean {
  const names = new Set([...before.versions.keys(), ...now.versions.keys()])
  return (
    isOther(before.model, now.model) ||
    [...names].some((name) => isOther(before.versions.get(name), now.versions.get(name)))
  )
}

const NOTICEABLE_SHARE = 0.1
/** A smaller difference is not noticeable, whatever its share. */
const LEAST = { requestsPerSecond: 0.1, averageLatencyMs: 1, errorRate: 0.001 }

function isOther(before: Shown | undefined, now: Shown | undefined): boolean {
  if (!before || !now) return before !== now
  return (['requestsPerSecond', 'averageLatencyMs', 'errorRate'] as const).some((figure) => {
    const [then, here] = [before[figure], now[figure]]
    if (then === undefined || here === undefined) return then !== here
    const isZero = (then === 0) !== (here === 0)
    return isZero || Math.abs(here - then) > Math.max(LEAST[figure], NOTICEABLE_SHARE * then)
  })
}

/** Over all versions, with latency and errors weighted by requests. */
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

/** Rounded for people. */
function shown({ requestsPerSecond, averageLatencyMs, errorRate }: VersionRates): Shown {
  return {
    requestsPerSecond: rounded(requestsPerSecond, 2),
    ...(averageLatencyMs !== undefined && { averageLatencyMs: rounded(averageLatencyMs, 1) }),
    ...(errorRate !== undefined && { errorRate: rounded(errorRate, 4) }),
  }
}

const rounded = (value: number, digits: number): number => Number(value.toFixed(digits))
