/**
 * Requests as Istio's proxies count them. The proxies of clients and gateways are asked: they split the traffic, so they see all of
 * it, also what no server has answered.
 */
import type { VersionQueries } from '../../version-queries.ts'

const VERSION = 'reporter="source",destination_workload="{workload}"'
const DURATION = 'istio_request_duration_milliseconds'

export const defaultQueries: VersionQueries = {
  scopeLabel: 'destination_workload_namespace',
  scopeValue: '{namespace}',
  requests: `sum(increase(istio_requests_total{${VERSION}}[{range}]))`,
  errors: `sum(increase(istio_requests_total{${VERSION},response_code=~"5.."}[{range}]))`,
  latencyMs: `sum(increase(${DURATION}_sum{${VERSION}}[{range}]))`,
  latencyP99Ms: `histogram_quantile(0.99, sum by (le) (increase(${DURATION}_bucket{${VERSION}}[{range}])))`,
}
