/**
 * What each version has answered in an interval: the difference of two readings of cumulative counters, summed over their
 * sources. A source that began to count in the interval counts from zero. One that is older than the interval and was not
 * read at its start is left out: it may have counted before.
 */
import type { AnalysisCounter } from '../../../api/rollout-status.ts'

export interface Figures {
  readonly requests: number
  readonly errors: number
  /** Sum of the latencies. Absent: the source does not know it. */
  readonly latencyMs?: number
  /** Of a source with histograms. */
  readonly latencyP99Ms?: number
}

export const NO_FIGURES: Figures = { requests: 0, errors: 0, latencyMs: 0 }

type Counters = readonly AnalysisCounter[]

export function figuresSince(before: Counters, now: Counters, sinceMs: number): ReadonlyMap<string, Figures> {
  const figures = new Map<string, Figures>()
  for (const counter of now) {
    const grown = growthOf(counter, before, sinceMs)
    if (grown) figures.set(counter.version, plus(figures.get(counter.version) ?? NO_FIGURES, grown))
  }
  return figures
}

function growthOf(now: AnalysisCounter, before: Counters, sinceMs: number): Figures | undefined {
  const readings = before.filter(({ source }) => source === now.source)
  const isRestarted = readings.some(({ startedAt }) => startedAt !== now.startedAt)
  const then = isRestarted ? undefined : readings.find(({ version }) => version === now.version)
  // A version that a source did not have at the start was added in the interval.
  if (!then) return readings.length > 0 || now.startedAt >= sinceMs ? now : undefined
  if (now.requests < then.requests) return now
  return {
    requests: now.requests - then.requests,
    errors: Math.max(0, now.errors - then.errors),
    latencyMs: Math.max(0, now.latencyMs - then.latencyMs),
  }
}

/** Without quantiles: they cannot be added. */
export function plus(one: Figures, other: Figures): Figures {
  const parts = [one, other].filter(({ requests }) => requests > 0)
  const isKnown = parts.every(({ latencyMs }) => latencyMs !== undefined)
  return {
    requests: one.requests + other.requests,
    errors: one.errors + other.errors,
    ...(isKnown && { latencyMs: parts.reduce((sum, { latencyMs = 0 }) => sum + latencyMs, 0) }),
  }
}

/** Failed requests in millionths, and average latency in thousandths of a millisecond: whole numbers compare exactly. */
export const errorMillionths = ({ requests, errors }: Figures): number => Math.round((errors * 1_000_000) / requests)
export const latencyMicros = ({ requests, latencyMs }: Figures): number | undefined =>
  latencyMs === undefined ? undefined : Math.round((latencyMs * 1000) / requests)
