/** Live traffic, as the status shows it. */
import type { VersionRates } from '../../api/router-report.ts'
import type { ServingStatus } from '../../api/modeldeployment-parts.ts'
import type { Scene } from './scene.ts'
import type { State } from './state.ts'
import type { Version } from './version.ts'

type Shown = ServingStatus['metrics']

/** Only the router counts: what it said last stays, as long as there is one. */
const isRouted = ({ routing }: State): boolean => routing.ways.some(({ name }) => name === 'router')

export function versionRates({ observed }: Scene, state: State, { name, known }: Version): Shown {
  if (!observed.rates) return isRouted(state) ? known?.metrics : undefined
  const rates = observed.rates.get(name)
  return rates && shown(rates)
}

export function modelRates({ observed, known }: Scene, state: State): Shown {
  if (observed.rates) return totalOf([...observed.rates.values()])
  return isRouted(state) ? known.metrics : undefined
}

/** Over all versions: latency and errors count by requests. */
function totalOf(rates: readonly VersionRates[]): VersionRates | undefined {
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

/** As precise as people read it: noise is not worth a write. */
function shown({ requestsPerSecond, averageLatencyMs, errorRate }: VersionRates): VersionRates {
  return {
    requestsPerSecond: rounded(requestsPerSecond, 2),
    ...(averageLatencyMs !== undefined && { averageLatencyMs: rounded(averageLatencyMs, 1) }),
    ...(errorRate !== undefined && { errorRate: rounded(errorRate, 4) }),
  }
}

const rounded = (value: number, digits: number): number => Number(value.toFixed(digits))
