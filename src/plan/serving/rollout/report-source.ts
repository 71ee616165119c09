/** Figures from the reports of proxies, each with its own counters by version. They have no histograms. */
import type { AnalysisCounter } from '../../../api/rollout-status.ts'
import type { ServingObserved } from '../observe/observed.ts'
import type { AnalysisSource, Readings } from './analysis-source.ts'
import { figuresSince } from './figures.ts'

const MAX_COUNTERS = 256

export const reportSource: AnalysisSource = {
  name: 'Reports',
  opening: countersIn,
  readings(observed, { counters: before, sinceMs }): Readings {
    const counters = countersIn(observed)
    return counters ? { figures: figuresSince(before, counters, sinceMs) } : {}
  },
}

/** Cumulative for each pair of proxy and version. They start at zero when `startedAt` changes. */
function countersIn({ traffic: { reports } }: ServingObserved): readonly AnalysisCounter[] | undefined {
  const counters = [...reports].flatMap(([source, { startedAt, versions }]) =>
    versions.map(({ version, requests, errors, latencyMsSum }): AnalysisCounter => ({
      source,
      startedAt: Math.round(startedAt),
      version,
      requests: Math.round(requests),
      errors: Math.round(errors),
      latencyMs: Math.round(latencyMsSum),
    })),
  )
  return counters.length === 0 ? undefined : counters.slice(0, MAX_COUNTERS)
}
