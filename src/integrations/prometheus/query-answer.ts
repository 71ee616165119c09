/** The answer of Prometheus to a query that gives one number. It is not trusted: anything else is an error with its reason. */

/** Prometheus has no usable answer; the message says why, without anything that changes from call to call. */
export class PrometheusError extends Error {
  override readonly name = 'PrometheusError'
}

const MAX_DETAIL = 200

type Json = Readonly<Record<string, unknown>>

/** Undefined: no series, or no number, such as a quantile of no requests. */
export function parseAnswer(status: number, text: string): number | undefined {
  const answer = parseJson(text)
  if (status !== 200 || answer?.['status'] !== 'success') throw new PrometheusError(refusal(status, answer))
  const data = answer['data']
  const { resultType, result } = isJson(data) ? data : {}
  if (resultType === 'scalar') return numberIn(result)
  if (resultType !== 'vector' || !Array.isArray(result))
    throw new PrometheusError('answers with something other than a number')
  if (result.length > 1)
    throw new PrometheusError(`answers with ${result.length} series instead of one: aggregate them, for example by sum`)
  const series: unknown = result[0]
  if (series === undefined) return undefined
  return numberIn(isJson(series) ? series['value'] : undefined)
}

/** A sample is `[time, "value"]`. */
function numberIn(sample: unknown): number | undefined {
  const value: unknown = Array.isArray(sample) && sample.length === 2 ? sample[1] : undefined
  if (typeof value !== 'string' || value.trim() === '')
    throw new PrometheusError('answers with something other than a number')
  if (/^(NaN|[+-]?Inf)$/.test(value)) return undefined
  const number = Number(value)
  if (!Number.isFinite(number)) throw new PrometheusError('answers with something other than a number')
  return number
}

function refusal(status: number, answer: Json | undefined): string {
  const error = answer?.['error']
  if (status === 200 && !answer) return 'answers with something other than JSON'
  return typeof error === 'string' ? `answers with ${status}: ${error.slice(0, MAX_DETAIL)}` : `answers with ${status}`
}

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

function parseJson(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isJson(value) ? value : undefined
  } catch {
    return undefined
  }
}
