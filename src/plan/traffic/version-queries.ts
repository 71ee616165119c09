/**
 * How Prometheus knows the requests of one version: queries with placeholders, declared by each provider and part of its
 * settings.
 *
 * Placeholders: `{namespace}` and `{model}`, `{version}`, `{workload}` (its Deployment), `{service}` (its Service), `{port}` (of the
 * Service) and `{range}` (the time to look at, such as `60s`).
 *
 * Contract (checked for every provider by test/contracts/version-queries.ts)
 * - Each query gives one number. An empty one means that Prometheus does not have this figure.
 * - Every selector gets the matcher `scopeLabel="scopeValue"`, and `scopeValue` contains `{namespace}`: no query reads the series of
 *   another namespace.
 */
import { scopedQuery } from '../promql/scoped-query.ts'
import { filled } from '../promql/template.ts'

export interface VersionQueries {
  readonly scopeLabel: string
  readonly scopeValue: string
  /** Number of requests in the range. */
  readonly requests: string
  /** Of these, those that failed. */
  readonly errors: string
  /** Sum of their latencies in milliseconds. */
  readonly latencyMs: string
  /** The latency in milliseconds that 99 % of them do not exceed. */
  readonly latencyP99Ms: string
}

export const figureNames = ['requests', 'errors', 'latencyMs', 'latencyP99Ms'] as const
export type FigureName = (typeof figureNames)[number]

/** What is asked about. */
export interface QueriedVersion {
  readonly namespace: string
  readonly model: string
  readonly version: string
  readonly workload: string
  readonly service: string
  readonly port: string
  readonly range: string
}

/** The query of one figure, restricted to the namespace and to `labels`. Undefined: there is no such figure. */
export function versionQuery(
  queries: VersionQueries,
  figure: FigureName,
  about: QueriedVersion,
  labels: Readonly<Record<string, string>>,
): string | undefined {
  const values = { ...about }
  const query = filled(queries[figure], values)
  const value = filled(queries.scopeValue, values)
  if (query === undefined || query === '' || value === undefined) return undefined
  const scoped = scopedQuery(query, { ...labels, [queries.scopeLabel]: value })
  return 'query' in scoped ? scoped.query : undefined
}

const SAMPLE: QueriedVersion = {
  namespace: 'n',
  model: 'm',
  version: 'v1',
  workload: 'm-v1',
  service: 'm-v1',
  port: '8080',
  range: '60s',
}
const LABEL = /^[a-zA-Z_][a-zA-Z0-9_]*$/

const KEYS = ['scopeLabel', 'scopeValue', ...figureNames] as const

const isComplete = (queries: object): queries is VersionQueries =>
  Object.keys(queries).length === KEYS.length &&
  KEYS.every((key) => typeof (queries as Partial<Record<string, unknown>>)[key] === 'string')

/** What is wrong with the queries of an administrator. */
export function queriesProblem(name: string, queries: object = {}): string | undefined {
  if (!isComplete(queries)) return `${name} must have exactly the texts ${KEYS.join(', ')}`
  const { scopeLabel, scopeValue } = queries
  if (!LABEL.test(scopeLabel)) return `${name}.scopeLabel must be the name of a label, such as namespace`
  if (!scopeValue.includes('{namespace}')) return `${name}.scopeValue must contain {namespace}`
  const problems = figureNames.flatMap((figure) => {
    const problem = templateProblem(queries[figure])
    return problem === undefined ? [] : [`${name}.${figure} ${problem}`]
  })
  return problems[0]
}

function templateProblem(template: string): string | undefined {
  const query = filled(template, { ...SAMPLE }) ?? ''
  if (query === '') return undefined
  const [left] = /\{[a-zA-Z]+\}/.exec(query) ?? []
  if (left !== undefined) return `has the unknown placeholder ${left}`
  const scoped = scopedQuery(query, { scope: 'n' })
  return 'problem' in scoped ? scoped.problem : undefined
}
