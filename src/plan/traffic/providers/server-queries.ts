/**
 * Requests as model servers count them, for providers without a proxy that does: series of the names that servers with an
 * instrumented FastAPI have, vLLM among them. Our PodMonitor of model servers adds the labels `model` and `version`.
 */
import { queriesProblem, type VersionQueries } from '../version-queries.ts'

export interface ServerQueriesConfig {
  /** How Prometheus knows the requests of a model without a mesh and without a gateway that counts them. */
  readonly serverQueries: VersionQueries
}

const VERSION = 'model="{model}",version="{version}",handler!~"/(metrics|health|healthz|ready|ping)"'

export const serverQueryDefaults: ServerQueriesConfig = {
  serverQueries: {
    scopeLabel: 'namespace',
    scopeValue: '{namespace}',
    requests: `sum(increase(http_requests_total{${VERSION}}[{range}]))`,
    errors: `sum(increase(http_requests_total{${VERSION},status=~"5.."}[{range}]))`,
    latencyMs: `1000 * sum(increase(http_request_duration_seconds_sum{${VERSION}}[{range}]))`,
    latencyP99Ms: `1000 * histogram_quantile(0.99, sum by (le) (increase(http_request_duration_seconds_bucket{${VERSION}}[{range}])))`,
  },
}

export const serverQueries = ({ serverQueries: queries }: Partial<ServerQueriesConfig>): VersionQueries =>
  queries ?? serverQueryDefaults.serverQueries

export const serverQueriesProblem = ({ serverQueries: queries }: Partial<ServerQueriesConfig>): string | undefined =>
  queriesProblem('serverQueries', queries)
