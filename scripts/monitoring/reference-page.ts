/** docs/reference/metrics.md: name, type, labels and meaning of every metric. */

import { METRICS_PREFIX } from '../../src/operator-metrics.ts'
import { markdownTable } from '../markdown-table.ts'
import { isOfProcess, type MetricEntry, operatorMetrics, routerCatalogue } from './catalogue.ts'

const INTRODUCTION = `# Metrics

The operator serves its metrics at \`/metrics\` on port 8000 in the text format of Prometheus, and so does every router on its port
\`report\`. [OPERATIONS.md](../OPERATIONS.md#monitoring) describes how to collect them.

- **Counters** count since the process started. An event counts in the reconcile that records it in the object: only the leader counts,
  and a restarted operator does not count existing objects again. Use \`rate()\` or \`increase()\`, which handle the reset.
- **Gauges about jobs and models** are read from the status at each scrape. Their series end with the object. Only the leader exports
  them, so sums over the replicas are right; after a change of the leader they are missing until the next one leads, usually for less than
  20 seconds.
- **Limits**: at most 10,000 jobs and 10,000 models have series of their own (\`--metrics-objects\`), those at work first.
  \`trainingjob_objects_omitted\` and \`model_deployment_objects_omitted\` count the others. Counters have at most 1,000 namespaces; further
  ones are counted as \`_other\`.
- **The label \`namespace\`** is that of the job or model. Set \`honorLabels: true\` where Prometheus adds a label of the same name to its
  targets, as our ServiceMonitor does. Otherwise it is renamed to \`exported_namespace\`.
- Names, types and labels are a [contract](../upgrade.md#policy).
`

interface Section {
  readonly title: string
  readonly text: string
  readonly has: (metric: MetricEntry) => boolean
}

const sections: readonly Section[] = [
  {
    title: 'Training jobs',
    text: 'A value that is missing in the status of a job has no series.',
    has: ({ name }) => name.startsWith('training'),
  },
  { title: 'Models', text: '', has: ({ name }) => name.startsWith('model_') },
  {
    title: 'Controllers',
    text: 'The codes of errors are described in [errors.md](errors.md).',
    has: ({ name }) => name.startsWith(METRICS_PREFIX),
  },
]

export function metricsPage(): string {
  const metrics = operatorMetrics().filter((metric) => !isOfProcess(metric))
  const missing = metrics.filter((metric) => !sections.some(({ has }) => has(metric)))
  if (missing.length > 0) throw new Error(`no section for ${missing.map(({ name }) => name).join(', ')}`)
  const own = sections.map(({ title, text, has }) => section(title, text, metrics.filter(has)))
  const routers = section('Routers', 'Of the provider `router`, for each of its pods.', routerCatalogue())
  return [INTRODUCTION, ...own, routers, PROCESS].join('\n')
}

const PROCESS = `## Process

The operator also exports the usual metrics of a Node process: \`process_cpu_seconds_total\`, \`process_resident_memory_bytes\`,
\`process_open_fds\`, \`nodejs_eventloop_lag_p99_seconds\`, \`nodejs_gc_duration_seconds\`, \`nodejs_heap_size_used_bytes\` and others. They cost
about 5 ms of CPU time per second, and 4 ms for each scrape.
`

function section(title: string, text: string, metrics: readonly MetricEntry[]): string {
  const rows = metrics.map(({ name, type, labels, help }) => [`\`${name}\``, type, labels.join(', '), help])
  const table = markdownTable([['metric', 'type', 'labels', 'meaning'], ...rows])
  return `## ${title}\n\n${text === '' ? '' : `${text}\n\n`}${table}\n`
}
