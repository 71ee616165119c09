/**
 * What to ask Prometheus about a model now: recent traffic for the status, and the figures of the present interval of an
 * analysis. An interval is asked for as a whole, from its start until now, so a restart of the operator loses nothing.
 */
import type { RolloutStatus } from '../../../api/rollout-status.ts'
import { isQueryMetric, type QueryMetric } from '../../../api/serving-analysis-metric.ts'
import type { Analysis } from '../../../api/serving-rollout.ts'
import type { Deployment } from '../../../kube/resources.ts'
import { VERSION_LABEL, versionedName } from '../../model-names.ts'
import { millis } from '../../time.ts'
import { type FigureName, providers, type VersionQueries, versionQuery } from '../../traffic/index.ts'
import type { ServingConfig } from '../config.ts'
import type { Model } from '../observe/observed.ts'
import { publishedPort } from '../observe/view.ts'
import { CUSTOM, customQuery } from './custom-query.ts'
import { rolloutSpecOf } from '../rollout/rollout-spec.ts'
import { endOf, isMeasured } from '../rollout/interval.ts'

export interface MeasureConfig {
  /** Matchers of every selector, beside that of the namespace. */
  readonly labels: Readonly<Record<string, string>>
  /** Seconds that the figures of the status look back. */
  readonly rateSeconds: number
  /** Label with the namespace of a series. Queries of users are restricted by it. */
  readonly namespaceLabel: string
}

export interface Question {
  /** For example `rates/v1/errors`. */
  readonly id: string
  readonly query: string
}

export interface Questions {
  readonly list: readonly Question[]
  /** Answers to questions with another key are no answers to these. */
  readonly key: string
  /** An answer from before this time does not cover the interval, in milliseconds of the epoch. */
  readonly dueAt?: number
}

export interface QuestionSubject {
  readonly model: Model
  readonly deployments: readonly Deployment[]
  readonly config: ServingConfig
  readonly now: number
}

interface Asked {
  readonly name: string
  readonly workload: string
}

/** Undefined: there is nothing to ask, because the proxies of the provider report. */
export function questionsOf(subject: QuestionSubject, measure: MeasureConfig): Questions | undefined {
  const { model, config, now } = subject
  const { traffic, rollout } = model.status ?? {}
  if (!traffic) return undefined
  const queries = providers.of(traffic.provider).queries?.(config)
  const interval = intervalOf(rollout, rolloutSpecOf(model)?.rollout.analysis, now)
  const versions = versionsIn(subject)
  const list = versions.flatMap((one) => [
    ...(queries ? figureQuestions(subject, one, queries, { measure, interval }) : []),
    ...(interval ? customQuestions(subject, one, interval, measure) : []),
  ])
  if (!queries && list.length === 0) return undefined
  const names = versions.map(({ name, workload }) => `${name}=${workload}`)
  const key = JSON.stringify([traffic.provider, names, interval && keyOf(interval)])
  return { list, key, ...(interval && { dueAt: interval.dueAt }) }
}

const keyOf = ({ since, isMeasured: isOurs, figures, metrics }: OpenInterval) => [since, isOurs, figures, metrics]

const RATES: readonly FigureName[] = ['requests', 'errors', 'latencyMs']

function versionsIn({ deployments }: QuestionSubject): Asked[] {
  return deployments.flatMap(({ metadata }) => {
    const name = metadata.labels?.[VERSION_LABEL]
    return name === undefined || metadata.deletionTimestamp !== undefined ? [] : [{ name, workload: metadata.name }]
  })
}

interface Ranges {
  readonly measure: MeasureConfig
  readonly interval: OpenInterval | undefined
}

function figureQuestions(subject: QuestionSubject, one: Asked, queries: VersionQueries, ranges: Ranges): Question[] {
  const { measure, interval } = ranges
  const { model } = subject
  const service = versionedName(model, one.name)
  const port = String(publishedPort(model.status ?? {}) ?? 80)
  const ask = (purpose: string, figures: readonly FigureName[], seconds: number): Question[] =>
    figures.flatMap((figure) => {
      const about = { ...placeholders(subject, one, seconds), service, port }
      const query = versionQuery(queries, figure, about, measure.labels)
      return query === undefined ? [] : [{ id: questionId(purpose, one.name, figure), query }]
    })
  return [
    ...ask('rates', RATES, measure.rateSeconds),
    ...(interval?.isMeasured ? ask('interval', interval.figures, interval.seconds) : []),
  ]
}

function customQuestions(
  subject: QuestionSubject,
  one: Asked,
  { metrics, seconds }: OpenInterval,
  measure: MeasureConfig,
): Question[] {
  return metrics.flatMap((metric) => {
    const scoped = customQuery(metric, placeholders(subject, one, seconds), measure)
    return 'query' in scoped ? [{ id: questionId(CUSTOM, one.name, metric.name), query: scoped.query }] : []
  })
}

const placeholders = ({ model }: QuestionSubject, { name, workload }: Asked, seconds: number) => ({
  namespace: model.metadata.namespace ?? '',
  model: model.metadata.name,
  version: name,
  workload,
  range: `${seconds}s`,
})

export const questionId = (purpose: string, version: string, figure: string): string =>
  `${purpose}/${version}/${figure}`

interface OpenInterval {
  readonly since: number
  readonly seconds: number
  readonly figures: readonly FigureName[]
  /** Prometheus has its figures, and not the proxies. */
  readonly isMeasured: boolean
  readonly metrics: readonly QueryMetric[]
  readonly dueAt: number
}

/** The open interval of an analysis. */
function intervalOf(
  rollout: RolloutStatus | undefined,
  analysis: Analysis | undefined,
  now: number,
): OpenInterval | undefined {
  const since = millis(rollout?.analysis?.since)
  if (!rollout?.analysis?.source || !analysis || since === undefined) return undefined
  const seconds = Math.floor((now - since) / 1000)
  if (seconds < 1) return undefined
  const { maxLatencyP99Ms } = analysis
  const metrics = analysis.metrics?.filter(isQueryMetric) ?? []
  const figures = maxLatencyP99Ms === undefined ? RATES : [...RATES, 'latencyP99Ms' as const]
  return { since, seconds, figures, metrics, isMeasured: isMeasured(rollout.analysis), dueAt: endOf(rollout, analysis) }
}
