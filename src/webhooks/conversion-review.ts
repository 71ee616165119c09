/** Answers ConversionReviews: converts objects from one version to another. Pure. */

import { toV1, toV1alpha1 } from '../api/conversion.ts'
import { isJsonObject } from '../api/json.ts'
import { GROUP } from '../api/kinds.ts'
import type { TrainingJob } from '../api/trainingjob.v1.ts'
import type { AlphaTrainingJob } from '../api/trainingjob.v1alpha1.ts'

const V1 = `${GROUP}/v1`
const V1ALPHA1 = `${GROUP}/v1alpha1`

export interface ConversionReview {
  readonly apiVersion: 'apiextensions.k8s.io/v1'
  readonly kind: 'ConversionReview'
  readonly response: {
    readonly uid: string
    readonly convertedObjects: readonly unknown[]
    readonly result: { readonly status: 'Success' } | { readonly status: 'Failure'; readonly message: string }
  }
}

/** Converts all objects or none: if one cannot be converted, the review fails with a message that names it. */
export function answerReview(review: unknown): ConversionReview {
  return { ...HEADER, response: responseTo(review, (object) => object) }
}

/** The response as JSON. Serializes objects one by one to save memory. Undefined if the result is too long. */
export function answerText(review: unknown, maxLength: number): string | undefined {
  let left = maxLength
  const { convertedObjects, ...response } = responseTo(review, (object) => {
    if (left < 0) throw new Error('the converted objects are too large')
    const text = JSON.stringify(object)
    left -= text.length
    return text
  })
  if (left < 0) return undefined
  const rest = JSON.stringify({ ...HEADER, response }).slice(0, -2)
  return `${rest},"convertedObjects":[${convertedObjects.join(',')}]}}`
}

const HEADER = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview' } as const

type Response<T> = Omit<ConversionReview['response'], 'convertedObjects'> & { readonly convertedObjects: readonly T[] }

function responseTo<T>(review: unknown, form: (object: unknown) => T): Response<T> {
  const request = isJsonObject(review) && isJsonObject(review['request']) ? review['request'] : {}
  const uid = typeof request['uid'] === 'string' ? request['uid'] : ''
  try {
    const { objects, desiredAPIVersion: desired } = request
    if (!Array.isArray(objects) || typeof desired !== 'string')
      throw new Error('the review has no objects or no desiredAPIVersion')
    const convertedObjects = objects.map((object) => form(convert(object, desired)))
    return { uid, convertedObjects, result: { status: 'Success' } }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { uid, convertedObjects: [], result: { status: 'Failure', message: message.slice(0, MAX_MESSAGE) } }
  }
}

const MAX_MESSAGE = 1_000

function convert(object: unknown, desired: string): unknown {
  if (!isTrainingJob(object)) throw new Error('only TrainingJobs of ml.example.com can be converted')
  if (object.apiVersion === desired) return object
  if (object.apiVersion === V1ALPHA1 && desired === V1) return toV1(object as AlphaTrainingJob) // eslint-disable-line typescript/no-unsafe-type-assertion -- conversion takes any JSON in that version
  if (object.apiVersion === V1 && desired === V1ALPHA1) return toV1alpha1(object as TrainingJob) // eslint-disable-line typescript/no-unsafe-type-assertion -- conversion takes any JSON in that version
  throw new Error(`TrainingJob ${object.metadata.name}: no conversion from ${object.apiVersion} to ${desired}`)
}

function isTrainingJob(object: unknown): object is Pick<TrainingJob, 'apiVersion' | 'kind' | 'metadata'> {
  return isJsonObject(object) && object['kind'] === 'TrainingJob' && isJsonObject(object['metadata'])
}
