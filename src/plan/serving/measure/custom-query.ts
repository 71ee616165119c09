/** A query of a user, for one version: restricted to the namespace of the model. */
import type { AnalysisMetric, QueryMetric } from '../../../api/serving-analysis-metric.ts'
import { type ScopedQuery, scopedQuery } from '../../promql/scoped-query.ts'
import { filled, type Placeholders } from '../../promql/template.ts'

export const CUSTOM = 'metric'

export interface CustomScope {
  readonly labels: Readonly<Record<string, string>>
  /** Label with the namespace of a series. */
  readonly namespaceLabel: string
}

export function customQuery(
  { query }: Pick<QueryMetric, 'query'>,
  values: Placeholders,
  scope: CustomScope,
): ScopedQuery {
  const text = filled(query, values)
  if (text === undefined) return { problem: 'cannot be filled in: a name has characters that PromQL does not take' }
  return scopedQuery(text, { ...scope.labels, [scope.namespaceLabel]: values['namespace'] ?? '' })
}

const SAMPLE = { namespace: 'n', model: 'm', version: 'v', workload: 'w', range: '60s' }

/** Why the query of a metric is not asked, with its field. */
export function customProblem(metrics: readonly AnalysisMetric[]): string | undefined {
  for (const [index, { query }] of metrics.entries()) {
    if (query === undefined) continue
    const scoped = customQuery({ query }, SAMPLE, { labels: {}, namespaceLabel: 'namespace' })
    if ('problem' in scoped) return `spec.rollout.analysis.metrics[${index}].query ${scoped.problem}`
  }
  return undefined
}
