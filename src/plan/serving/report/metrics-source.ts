/** The condition `Metrics`: where the figures of the status come from, or why there are none. */
import { getCondition, type Verdict } from '../../../api/conditions.ts'
import type { ModelView } from '../observe/view.ts'
import type { Routing } from '../steps/routing.ts'

export const METRICS = 'Metrics'

type Finding = Pick<Verdict, 'status' | 'reason' | 'message'>

export function metricsCondition(view: ModelView, routing: Routing): Verdict {
  const { generation } = view.model.metadata
  return {
    type: METRICS,
    ...sourceOf(view, routing),
    ...(generation !== undefined && { observedGeneration: generation }),
  }
}

function sourceOf({ observed: { measured }, recorded }: ModelView, { current: { provider } }: Routing): Finding {
  if (provider.proxyName)
    return {
      status: 'True',
      reason: 'ProxyReports',
      message: `The proxies of the traffic provider ${provider.name} count requests`,
    }
  if (!measured)
    return {
      status: 'False',
      reason: 'NoSource',
      message: `The traffic provider ${provider.name} does not count requests: set prometheus.url in the configuration of the operator`,
    }
  const { answers } = measured
  if (!answers)
    return (
      earlier(recorded.conditions) ?? {
        status: 'Unknown',
        reason: 'NotReadYet',
        message: 'Prometheus was not asked yet',
      }
    )
  if (answers.problem !== undefined)
    return { status: 'False', reason: 'PrometheusUnavailable', message: `Prometheus ${answers.problem}` }
  const hasSeries = [...answers.values.keys()].some((id) => id.endsWith('/requests'))
  return hasSeries
    ? {
        status: 'True',
        reason: 'Prometheus',
        message: `Prometheus counts requests, by the queries of the traffic provider ${provider.name}`,
      }
    : {
        status: 'Unknown',
        reason: 'NoSeries',
        message: `Prometheus has no series for the queries of the traffic provider ${provider.name}: check what it scrapes, or change the queries in the configuration of the operator`,
      }
}

/** The operator has restarted, or a version was added: what was known stays until the next answer. */
function earlier(conditions: ModelView['recorded']['conditions']): Finding | undefined {
  const { status, reason, message } = getCondition(conditions, METRICS) ?? {}
  if (status === undefined || reason === 'ProxyReports' || reason === 'NoSource') return undefined
  return { status, reason: reason ?? '', message: message ?? '' }
}
