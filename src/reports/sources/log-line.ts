/**
 * Parses a line of a log. docs/python-helper.md lists the three forms: a JSON object, pairs of names and values, and words such
 * as `epoch 3/10 loss=0.2`. Any other line is no report.
 */
import { compact, isJsonObject } from '../../api/json.ts'
import { MAX_METRICS, type ProgressReport } from '../../api/training-report.ts'
import { METRIC_NAME, ownReport, ReportError } from '../report-body.ts'

/** Undefined if the line is no report. */
export function parseLogLine(line: string): ProgressReport | undefined {
  const text = line.trim()
  try {
    return text.startsWith('{') ? jsonLine(text) : (pairsLine(text) ?? wordsLine(text))
  } catch (error) {
    if (error instanceof ReportError) return undefined
    throw error
  }
}

/** The time of a log line has many formats and is not needed: lines are in order. */
function jsonLine(text: string): ProgressReport | undefined {
  if (!text.endsWith('}')) return undefined
  const { time: _time, ...json } = objectIn(text)
  const { report } = ownReport(json)
  return Object.keys(report).length > 0 ? report : undefined
}

function objectIn(text: string): Record<string, never> {
  try {
    const json: unknown = JSON.parse(text)
    return (isJsonObject(json) ? json : {}) as Record<string, never>
  } catch {
    return {}
  }
}

type Pairs = ReadonlyMap<string, string>

const PAIR = /([A-Za-z0-9][\w./:@-]{0,62})=("(?:[^"\\]|\\.)*"|\S+)(?: |$)/y
const MAX_PAIRS = 64
const PROGRESS = ['epoch', 'step', 'loss', 'accuracy', 'throughput', 'checkpoint']

/** The whole line consists of pairs, and one of them is about progress. */
function pairsLine(text: string): ProgressReport | undefined {
  const pairs = pairsIn(text)
  if (!pairs || !PROGRESS.some((name) => pairs.has(name))) return undefined
  const { epoch, step, checkpoint, checkpoint_step: saved, ...metrics } = Object.fromEntries(pairs)
  return reportOf({
    ...countsOf('epoch', 'totalEpochs', epoch),
    ...countsOf('step', 'totalSteps', step),
    ...(checkpoint !== undefined && {
      checkpoint: compact({ path: pathOf(checkpoint), step: saved === undefined ? undefined : Number(saved) }),
    }),
    metrics: metricsOf(Object.entries(metrics)),
  })
}

function pairsIn(text: string): Pairs | undefined {
  const pairs = new Map<string, string>()
  PAIR.lastIndex = 0
  for (let at = 0; at < text.length; at = PAIR.lastIndex) {
    const [, name, value] = PAIR.exec(text) ?? []
    if (name === undefined || value === undefined || pairs.size >= MAX_PAIRS) return undefined
    pairs.set(name, value)
  }
  return pairs
}

function pathOf(value: string): unknown {
  if (!value.startsWith('"')) return value
  try {
    return JSON.parse(value)
  } catch {
    throw new ReportError('the path is no JSON string')
  }
}

function countsOf(name: string, total: string, value: string | undefined): object {
  if (value === undefined) return {}
  const [, done, all] = /^(\d{1,15})(?:\/(\d{1,15}))?$/.exec(value) ?? []
  if (done === undefined) throw new ReportError(`${name} must be a count such as 3 or 3/10`)
  return { [name]: Number(done), ...(all !== undefined && { [total]: Number(all) }) }
}

/** Names and values that do not fit are omitted. */
function metricsOf(entries: readonly (readonly [string, string])[]): Record<string, number> {
  const valid = entries.flatMap(([name, value]) => {
    const number = NUMBER.test(value) ? Number(value) : Number.NaN
    return METRIC_NAME.test(name) && Number.isFinite(number) ? [[name, number] as const] : []
  })
  return Object.fromEntries(valid.slice(0, MAX_METRICS))
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/

function reportOf(fields: object): ProgressReport | undefined {
  const { report } = ownReport(fields as Record<string, never>)
  return Object.keys(report).length > 0 ? report : undefined
}

const MAX_WORDS = 512
const START = /^(?:epoch|step|iter(?:ation)?)\b/i
const WORD = /\b([A-Za-z]+)(?:\s*[:=]\s*|\s+)\[?([+-]?[\d.]+(?:[eE][+-]?\d+)?)(?:\/(\d+))?/g
const WORDS: Readonly<Record<string, string>> = {
  epoch: 'epoch',
  step: 'step',
  iter: 'step',
  iteration: 'step',
  loss: 'loss',
  acc: 'accuracy',
  accuracy: 'accuracy',
  throughput: 'throughput',
  lr: 'lr',
}

/** Begins with the epoch or the step, and has a metric: a line without one announces an epoch that has not been trained yet. */
function wordsLine(text: string): ProgressReport | undefined {
  if (text.length > MAX_WORDS || !START.test(text)) return undefined
  const found = new Map<string, readonly [string, string | undefined]>()
  for (const [, word = '', value = '', total] of text.matchAll(WORD)) {
    const name = WORDS[word.toLowerCase()]
    if (name !== undefined && !found.has(name)) found.set(name, [value, total])
  }
  const { epoch, step, ...others } = Object.fromEntries(found)
  const metrics = metricsOf(Object.entries(others).map(([name, [value]]) => [name, value]))
  if (Object.keys(metrics).length === 0) return undefined
  return reportOf({ ...positionOf(epoch, step), metrics })
}

type Count = readonly [string, string | undefined] | undefined

/** `Epoch [3/10], Step [100/600]`: steps of the epoch that is being trained, so one epoch less is done. */
function positionOf(epoch: Count, step: Count): object {
  const text = ([done, all]: readonly [string, string | undefined]): string =>
    all === undefined ? done : `${done}/${all}`
  if (epoch === undefined) return step ? countsOf('step', 'totalSteps', text(step)) : {}
  if (step === undefined) return countsOf('epoch', 'totalEpochs', text(epoch))
  const [current, all] = epoch
  return countsOf('epoch', 'totalEpochs', text([String(Math.max(0, Number(current) - 1)), all]))
}
