/** Envoy's counters of tries by version, since its start, from its page for Prometheus. Copies of requests count as tries. */

export interface Totals {
  readonly requests: number
  readonly errors: number
  readonly latencyMsSum: number
  /** Tries by the upper bound of their latency in milliseconds; cumulative. */
  readonly buckets: ReadonlyMap<number, number>
}

export const SHOW_STATISTICS = '/stats/prometheus'
/** A hundred versions have about 3,000 lines. */
const MAX_LINES = 100_000
const LINE = /^(?<name>[a-zA-Z_]\w*)(?:\{(?<labels>[^}]*)\})? (?<value>[\d.eE+-]+)$/
/** A longer line is not one of ours, and would take long to parse. */
const MAX_LINE = 1_000
const LABEL = /(?<key>\w{1,64})="(?<value>[^"]*)"/g

/** A try without a response for which the server is responsible. A client that has gone is not the server's error. */
const FAILED_FLAGS = /\b(?:UF|UC|UPE|UR|UT|UH|LR|URX)\b/

interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export function parseStatistics(page: string): ReadonlyMap<string, Totals> {
  const lines = page.split('\n')
  if (lines.length > MAX_LINES) throw new Error(`Envoy lists ${lines.length} statistics: too many`)
  const totals = new Map<string, Summing>()
  for (const line of lines) {
    const sample = parseLine(line)
    const version = sample && versionOf(sample)
    if (!sample || version === undefined) continue
    const summing = totals.get(version) ?? new Summing()
    totals.set(version, summing)
    summing.add(sample)
  }
  return totals
}

/** Requests of clients that are being answered. */
export function parseActive(page: string): number {
  const found = page
    .split('\n')
    .map(parseLine)
    .find((sample) => sample?.name.endsWith('_downstream_rq_active'))
  return found?.value ?? 0
}

function parseLine(line: string): Sample | undefined {
  if (line.startsWith('#') || line.length > MAX_LINE) return undefined
  const { name, labels = '', value } = LINE.exec(line)?.groups ?? {}
  const number = Number(value)
  if (name === undefined || !Number.isFinite(number) || number < 0) return undefined
  const pairs = [...labels.matchAll(LABEL)].map(({ groups }) => [groups?.['key'] ?? '', groups?.['value'] ?? ''])
  return { name, labels: Object.fromEntries(pairs) as Record<string, string>, value: number }
}

/** A request that reached no version has none. */
function versionOf({ name, labels }: Sample): string | undefined {
  return name.startsWith('envoy_tries_') && labels['version'] !== '-' ? labels['version'] : undefined
}

class Summing implements Totals {
  requests = 0
  errors = 0
  latencyMsSum = 0
  readonly buckets = new Map<number, number>()

  add({ name, labels, value }: Sample): void {
    if (name === 'envoy_tries_ended') {
      this.requests += value
      this.errors += isFailure(labels) ? value : 0
    }
    if (name === 'envoy_tries_ms') this.latencyMsSum += value
    if (name === 'envoy_tries_latency_bucket') {
      const bound = labels['le'] === '+Inf' ? Infinity : Number(labels['le'])
      if (!Number.isNaN(bound)) this.buckets.set(bound, (this.buckets.get(bound) ?? 0) + value)
    }
  }
}

function isFailure({ code, flags = '' }: Sample['labels']): boolean {
  const status = Number(code)
  return status >= 500 || (status === 0 && FAILED_FLAGS.test(flags))
}
