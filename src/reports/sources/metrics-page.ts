/** Parses a page in the text format of Prometheus into a report. docs/training.md lists the names. */
import { compact } from '../../api/json.ts'
import { MAX_METRICS, type ProgressReport } from '../../api/training-report.ts'
import { METRIC_NAME, ReportError } from '../report-body.ts'

const PREFIX = 'training_'
const COUNTS: Readonly<Record<string, keyof ProgressReport>> = {
  epoch: 'epoch',
  total_epochs: 'totalEpochs',
  step: 'step',
  total_steps: 'totalSteps',
}
/** Names that count without the prefix as well. */
const MEASURES = ['loss', 'accuracy', 'throughput']
const SAMPLE = /^([A-Za-z_:][\w:]{0,127})(?:\{.*\})?\s+(\S{1,32})(?:\s+-?\d{1,20})?$/
/** Longer lines are not read: a pattern for labels would take too long. */
const MAX_LINE = 4_096
const MAX_PERCENT = 100

/** Throws a ReportError if the page has no progress. */
export function parseMetricsPage(page: string): ProgressReport {
  const samples = samplesIn(page)
  const counts = Object.entries(COUNTS).map(([name, field]) => [field, countOf(samples.get(name))] as const)
  const percent = samples.get('progress_percent')
  const report = compact({
    ...Object.fromEntries(counts),
    percent: percent !== undefined && percent >= 0 && percent <= MAX_PERCENT ? percent : undefined,
    ...metricsOf(samples),
  })
  if (Object.keys(report).length > 0) return report
  throw new ReportError(
    `the page has no sample named ${[...Object.keys(COUNTS), 'progress_percent', ...MEASURES].join(', ')} or ${PREFIX}*`,
  )
}

/** The first sample of each name, by the name without the prefix. Others than ours are omitted. */
function samplesIn(page: string): Map<string, number> {
  const samples = new Map<string, number>()
  let start = 0
  while (start < page.length) {
    const newline = page.indexOf('\n', start)
    const end = newline === -1 ? page.length : newline
    if (end - start <= MAX_LINE && page[start] !== '#') addSample(page.slice(start, end).trim(), samples)
    start = end + 1
  }
  return samples
}

function addSample(line: string, samples: Map<string, number>): void {
  const [, name = '', text = ''] = SAMPLE.exec(line) ?? []
  const isPrefixed = name.startsWith(PREFIX)
  const short = isPrefixed ? name.slice(PREFIX.length) : name
  const isKnown = Object.hasOwn(COUNTS, short) || MEASURES.includes(short) || short === 'progress_percent'
  const value = Number(text)
  if (text !== '' && (isPrefixed || isKnown) && Number.isFinite(value) && !samples.has(short)) samples.set(short, value)
}

const countOf = (value: number | undefined): number | undefined =>
  value !== undefined && Number.isSafeInteger(value) && value >= 0 && value < 2 ** 31 ? value : undefined

function metricsOf(samples: ReadonlyMap<string, number>): Pick<ProgressReport, 'metrics'> {
  const isMetric = (name: string): boolean =>
    METRIC_NAME.test(name) && !Object.hasOwn(COUNTS, name) && name !== 'progress_percent'
  const metrics = [...samples].filter(([name]) => isMetric(name)).slice(0, MAX_METRICS)
  return metrics.length > 0 ? { metrics: Object.fromEntries(metrics) } : {}
}
