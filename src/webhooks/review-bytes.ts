/** Answers the bytes of a review with the bytes of a response: for any input and within bounded memory. */
import { answerText } from './conversion-review.ts'

export interface AnswerBytes {
  readonly status: number
  readonly body: Uint8Array
}

/** A value takes up to 80 bytes of memory, even if its JSON has three. Typical reviews have 14 bytes per value. */
const MAX_VALUES = 1_000_000
const MAX_ANSWER_LENGTH = 24 * 2 ** 20

export function answerBytes(body: Uint8Array): AnswerBytes {
  if (valuesIn(body) > MAX_VALUES) {
    return errorResponse(413, `the review has more than ${MAX_VALUES} values: list fewer objects at a time`)
  }
  let review: unknown
  try {
    review = JSON.parse(new TextDecoder().decode(body))
  } catch {
    return errorResponse(400, 'the body is not JSON')
  }
  const answer = answerText(review, MAX_ANSWER_LENGTH)
  return answer === undefined
    ? errorResponse(413, 'the converted objects are too large: list fewer objects at a time')
    : { status: 200, body: new TextEncoder().encode(answer) }
}

export function errorResponse(status: number, message: string): AnswerBytes {
  return { status, body: new TextEncoder().encode(JSON.stringify({ message })) }
}

const COMMA = 0x2c
const BRACKET = 0x5b
const BRACE = 0x7b

/** An upper bound of the number of values: also counts characters inside of strings. */
function valuesIn(json: Uint8Array): number {
  let count = 1
  for (const byte of json) if (byte === COMMA || byte === BRACKET || byte === BRACE) count += 1
  return count
}
