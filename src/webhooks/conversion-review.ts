/** Answers to ConversionReviews: objects in, the same objects in another version out. Pure. */

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

/** All objects or none: one that cannot be converted fails the review, with a message that names it. */
export function answerReview(review: unknown): ConversionReview {
  const request = isJsonObject(review) && isJsonObject(review['request']) ? review['request'] : {}
  const uid = typeof request['uid'] === 'string' ? request['uid'] : ''
  try {
    const { objects, desiredAPIVersion: desired } = request
    if (!Array.isArray(objects) || typeof desired !== 'string') throw new Error('the review asks for nothing')
    const convertedObjects = objects.map((object) => converted(object, desired))
    return response({ uid, convertedObjects, result: { status: 'Success' } })
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return response({ uid, convertedObjects: [], result: { status: 'Failure', message } })
  }
}

function response(answer: ConversionReview['response']): ConversionReview {
  return { apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', response: answer }
}

function converted(object: unknown, desired: string): unknown {
  if (!isTrainingJob(object)) throw new Error('only TrainingJobs of ml.example.com can be converted')
  if (object.apiVersion === desired) return object
  if (object.apiVersion === V1ALPHA1 && desired === V1) return toV1(object as AlphaTrainingJob) // eslint-disable-line typescript/no-unsafe-type-assertion -- conversion takes any JSON in that version
  if (object.apiVersion === V1 && desired === V1ALPHA1) return toV1alpha1(object as TrainingJob) // eslint-disable-line typescript/no-unsafe-type-assertion -- conversion takes any JSON in that version
  throw new Error(`TrainingJob ${object.metadata.name}: no conversion from ${object.apiVersion} to ${desired}`)
}

function isTrainingJob(object: unknown): object is Pick<TrainingJob, 'apiVersion' | 'kind' | 'metadata'> {
  return isJsonObject(object) && object['kind'] === 'TrainingJob' && isJsonObject(object['metadata'])
}
