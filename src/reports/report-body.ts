/**
 * Parses the bodies of progress reports: our own, and that of Kubeflow's KEP-2779. A body that breaks a rule is rejected as a
 * whole with a reason in one line. Values that are no finite numbers are omitted with a reason: a loss that is NaN must not
 * hide the progress.
 */
import { compact, isJsonObject, type Json, type JsonObject, own } from '../api/json.ts'
import { MAX_METRICS, type ProgressReport } from '../api/training-report.ts'

export type ReportFormat = 'own' | 'kubeflow'

export interface ParsedReport {
  readonly report: ProgressReport
  /** What was omitted, and why. */
  readonly ignored: readonly string[]
}

/** A body that is rejected. */
export class ReportError extends Error {
  override readonly name = 'ReportError'
}

const MAX_EPOCH = 2 ** 31 - 1
const MAX_PATH = 1024
const MAX_KUBEFLOW_METRICS = 256
/** Starts with a letter or digit, so that no name has a meaning of its own in JavaScript. */
export const METRIC_NAME = /^[A-Za-z0-9][\w.:/-]{0,62}$/
const FIELDS = 'epoch, totalEpochs, step, totalSteps, loss, accuracy, throughput, metrics, checkpoint'

export function parseReportBody(body: string, format: ReportFormat): ParsedReport {
  const json = parseJson(body)
  return format === 'own' ? ownReport(json) : kubeflowReport(json)
}

function parseJson(body: string): JsonObject {
  let json: unknown
  try {
    json = JSON.parse(body)
  } catch {
    throw new ReportError('the body must be JSON; omit values that are NaN or Infinity, which JSON does not have')
  }
  if (!isJsonObject(json)) throw new ReportError('the body must be a JSON object')
  return json
}

export function ownReport(json: JsonObject): ParsedReport {
  const { metrics, ignored } = ownMetrics(json)
  const counts = {
    epoch: count(json, 'epoch', MAX_EPOCH),
    totalEpochs: count(json, 'totalEpochs', MAX_EPOCH),
    step: count(json, 'step', Number.MAX_SAFE_INTEGER),
    totalSteps: count(json, 'totalSteps', Number.MAX_SAFE_INTEGER),
  }
  const checkpoint = checkpointIn(json)
  const report = compact({ ...counts, metrics: isEmpty(metrics) ? undefined : metrics, checkpoint })
  if (isEmpty(report) && ignored.length === 0) throw new ReportError(`the body must have at least one of ${FIELDS}`)
  return { report: { ...report, ...timeIn(json, 'time') }, ignored }
}

/** `loss`, `accuracy` and `throughput` are metrics with a place of their own, and come first. */
function ownMetrics(json: JsonObject): { readonly metrics: Record<string, number>; readonly ignored: string[] } {
  const given = own(json, 'metrics') ?? {}
  if (!isJsonObject(given)) throw new ReportError('metrics must be an object of numbers by name')
  const named = ['loss', 'accuracy', 'throughput'].map((name) => [name, own(json, name)] as const)
  const entries = Object.entries(given).map(([name, value]) => [`metrics.${name}`, name, value] as const)
  if (entries.length > MAX_METRICS) throw new ReportError(`metrics must have at most ${MAX_METRICS} names`)
  const all = [...named.map(([name, value]) => [name, name, value] as const), ...entries]
  return collect(all.filter(([, , value]) => value !== undefined && value !== null))
}

type Entry = readonly [field: string, name: string, value: Json | undefined]

function collect(entries: readonly Entry[]): { readonly metrics: Record<string, number>; readonly ignored: string[] } {
  const ignored: string[] = []
  const metrics = new Map<string, number>()
  for (const [field, name, value] of entries) {
    if (!METRIC_NAME.test(name))
      throw new ReportError('names of metrics must have 1 to 63 letters, digits or any of _ . : / - after the first')
    if (typeof value !== 'number') throw new ReportError(`${field} must be a number`)
    if (!Number.isFinite(value)) ignored.push(`${field} is not a finite number`)
    else if (!metrics.has(name)) metrics.set(name, value)
  }
  return { metrics: Object.fromEntries([...metrics].slice(0, MAX_METRICS)), ignored }
}

function count(json: JsonObject, field: string, maximum: number): number | undefined {
  const value = own(json, field)
  if (value === undefined || value === null) return undefined
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= maximum) return value
  throw new ReportError(`${field} must be an integer from 0 to ${maximum}`)
}

function checkpointIn(json: JsonObject): ProgressReport['checkpoint'] {
  const given = own(json, 'checkpoint')
  if (given === undefined || given === null) return undefined
  const path = isJsonObject(given) ? own(given, 'path') : undefined
  if (!isJsonObject(given) || typeof path !== 'string' || path === '' || path.length > MAX_PATH)
    throw new ReportError(`checkpoint must be an object with a path of at most ${MAX_PATH} characters`)
  const step = count(given, 'step', Number.MAX_SAFE_INTEGER)
  return { path, ...(step !== undefined && { step }) }
}

function timeIn(json: JsonObject, field: string): { readonly time?: number } {
  const value = own(json, field)
  if (value === undefined || value === null) return {}
  const time = typeof value === 'string' && value.length <= 64 ? Date.parse(value) : Number.NaN
  if (Number.isNaN(time)) throw new ReportError(`${field} must be a time such as 2026-01-01T00:00:00Z`)
  return { time }
}

function kubeflowReport(json: JsonObject): ParsedReport {
  const status = own(json, 'trainerStatus')
  if (!isJsonObject(status)) throw new ReportError('the body must have trainerStatus')
  const percent = within(status, 'progressPercentage', 100)
  const remainingSeconds = within(status, 'estimatedRemainingSeconds', Number.MAX_SAFE_INTEGER)
  const { metrics, ignored } = kubeflowMetrics(own(status, 'metrics') ?? [])
  const report = compact({ percent, remainingSeconds, metrics: isEmpty(metrics) ? undefined : metrics })
  return { report: { ...report, ...timeIn(status, 'lastUpdatedTime') }, ignored }
}

function within(json: JsonObject, field: string, maximum: number): number | undefined {
  const value = own(json, field)
  if (value === undefined || value === null) return undefined
  if (typeof value === 'number' && value >= 0 && value <= maximum) return value
  throw new ReportError(`trainerStatus.${field} must be a number from 0 to ${maximum}`)
}

/** Libraries choose these names and values, so those that do not fit are omitted. */
function kubeflowMetrics(given: Json): { readonly metrics: Record<string, number>; readonly ignored: string[] } {
  if (!Array.isArray(given) || given.length > MAX_KUBEFLOW_METRICS || !given.every(isJsonObject))
    throw new ReportError(`trainerStatus.metrics must be a list of at most ${MAX_KUBEFLOW_METRICS} names and values`)
  const ignored: string[] = []
  const metrics = new Map<string, number>()
  for (const [index, metric] of (given as readonly JsonObject[]).entries()) {
    const problem = addMetric(metric, metrics)
    if (problem !== undefined) ignored.push(`trainerStatus.metrics[${index}] ${problem}`)
  }
  return { metrics: Object.fromEntries(metrics), ignored }
}

function addMetric(metric: JsonObject, metrics: Map<string, number>): string | undefined {
  const name = own(metric, 'name')
  const text = own(metric, 'value')
  const value = typeof text === 'string' && text.trim() !== '' ? Number(text) : text
  if (typeof name !== 'string' || !METRIC_NAME.test(name)) return 'has no valid name'
  if (typeof value !== 'number' || !Number.isFinite(value)) return 'is not a finite number'
  if (!metrics.has(name) && metrics.size >= MAX_METRICS) return `is above the limit of ${MAX_METRICS}`
  metrics.set(name, value)
  return undefined
}

const isEmpty = (object: object): boolean => Object.keys(object).length === 0
