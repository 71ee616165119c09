/** The metrics of a router, for Prometheus. */
import type { RouterReport, VersionCounters } from '../../api/router-report.ts'

/** Labels that every series has. */
export const ROUTER_LABELS = ['version'] as const

interface Series {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary'
  readonly help: string
  readonly samples: (
    version: VersionCounters,
  ) => readonly (readonly [suffix: string, labels: string, value: number | undefined])[]
}

export const routerMetrics: readonly Series[] = [
  {
    name: 'model_router_requests_total',
    type: 'counter',
    help: 'Tries of requests that have ended, by the version they went to',
    samples: ({ requests }) => [['', '', requests]],
  },
  {
    name: 'model_router_errors_total',
    type: 'counter',
    help: 'Of these, those answered with 5xx, not at all, or not connected',
    samples: ({ errors }) => [['', '', errors]],
  },
  {
    name: 'model_router_request_duration_seconds',
    type: 'summary',
    help: 'From the first byte of a request to the last of its answer; quantiles of the last minute at most',
    samples: ({ requests, latencyMsSum, latencyMsP50, latencyMsP99 }) => [
      ['', ',quantile="0.5"', seconds(latencyMsP50)],
      ['', ',quantile="0.99"', seconds(latencyMsP99)],
      ['_sum', '', seconds(latencyMsSum)],
      ['_count', '', requests],
    ],
  },
  {
    name: 'model_router_latency_seconds',
    type: 'histogram',
    help: 'The same durations, in buckets',
    samples: ({ requests, latencyMsSum, latencyBuckets = [] }) => [
      ...latencyBuckets.map(({ leMs, count }) => ['_bucket', `,le="${leMs / 1_000}"`, count] as const),
      ['_bucket', ',le="+Inf"', requests],
      ['_sum', '', seconds(latencyMsSum)],
      ['_count', '', requests],
    ],
  },
  {
    name: 'model_router_weight_percent',
    type: 'gauge',
    help: 'The share of new requests that a version gets',
    samples: ({ weight }) => [['', '', weight]],
  },
]

export function metricsPage({ versions }: RouterReport): string {
  return routerMetrics
    .flatMap(({ name, type, help, samples }) => [
      `# HELP ${name} ${help}`,
      `# TYPE ${name} ${type}`,
      ...versions.flatMap((version) =>
        samples(version).flatMap(([suffix, labels, value]) =>
          value === undefined ? [] : [`${name}${suffix}{version="${version.version}"${labels}} ${value}`],
        ),
      ),
    ])
    .map((line) => `${line}\n`)
    .join('')
}

function seconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1_000
}
