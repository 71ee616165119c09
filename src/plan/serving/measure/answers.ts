/** What Prometheus has answered, as figures of versions. */
import type { VersionRates } from '../../../api/router-report.ts'
import type { Figures } from '../rollout/figures.ts'
import { questionId } from './questions.ts'

export interface Answers {
  /** When they were asked for, in milliseconds of the epoch. */
  readonly at: number
  /** By id of the question. Absent: Prometheus has no such series, or no number. */
  readonly values: ReadonlyMap<string, number>
  /** Why there are no values. */
  readonly problem?: string
}

export interface Measured {
  /** Absent: not answered yet. */
  readonly answers?: Answers
  /** There is something to ask. Not while the proxies of the provider report. */
  readonly isAsked: boolean
  /** The answers are renewed after this time, in milliseconds. */
  readonly pollMs: number
  /** Seconds that recent traffic looks back. */
  readonly rateSeconds: number
}

/** Versions with values for a purpose. */
function versionsIn({ values }: Answers, purpose: string): string[] {
  const found = [...values.keys()].flatMap((id) => {
    const [own, version = ''] = id.split('/')
    return own === purpose ? [version] : []
  })
  return [...new Set(found)]
}

/** Recent traffic by version. Undefined without new figures. */
export function measuredRates({ answers, rateSeconds }: Measured): ReadonlyMap<string, VersionRates> | undefined {
  if (!answers || answers.problem !== undefined) return undefined
  return new Map(
    versionsIn(answers, 'rates').map((version) => {
      const { requests, errors, latencyMs } = figuresOf(answers, 'rates', version)
      const perRequest = {
        errorRate: Math.min(1, errors / requests),
        ...(latencyMs !== undefined && { averageLatencyMs: latencyMs / requests }),
      }
      return [version, { requestsPerSecond: requests / rateSeconds, ...(requests > 0 && perRequest) }]
    }),
  )
}

export const measuredFigures = (answers: Answers): ReadonlyMap<string, Figures> =>
  new Map(versionsIn(answers, 'interval').map((version) => [version, figuresOf(answers, 'interval', version)]))

/** A version without series of requests or errors had none. A missing latency is unknown. */
function figuresOf({ values }: Answers, purpose: string, version: string): Figures {
  const value = (figure: string): number | undefined => {
    const found = values.get(questionId(purpose, version, figure))
    return found === undefined ? undefined : Math.max(0, found)
  }
  const [latencyMs, latencyP99Ms] = [value('latencyMs'), value('latencyP99Ms')]
  return {
    requests: value('requests') ?? 0,
    errors: value('errors') ?? 0,
    ...(latencyMs !== undefined && { latencyMs }),
    ...(latencyP99Ms !== undefined && { latencyP99Ms }),
  }
}
