/** Requests to the model, through the API server to its Service. */

import type { Demo } from './demo.ts'

const SERVICE = 'spiral-service'
const PORT = 8000

export interface Prediction {
  readonly version: string
  readonly predictions: readonly number[]
  readonly probabilities: readonly (readonly number[])[]
}

export async function predict(demo: Demo, features: readonly (readonly number[])[]): Promise<Prediction> {
  const client = await demo.client()
  const path = `/api/v1/namespaces/${demo.namespace}/services/${SERVICE}:${PORT}/proxy/predict`
  const { signal } = demo
  return (await client.request({ method: 'POST', path, body: { features } }, { signal })) as Prediction
}

const ARMS = 3

/** A point in the middle of an arm of the spiral: the trainer's data without noise. */
export function pointOn(arm: number, radius: number): readonly [number, number] {
  const angle = radius * 4 + (arm * 2 * Math.PI) / ARMS
  return [radius * Math.sin(angle), radius * Math.cos(angle)]
}

export function testSet(count: number): { readonly point: readonly [number, number]; readonly arm: number }[] {
  return Array.from({ length: count }, (_, index) => {
    const arm = index % ARMS
    return { arm, point: pointOn(arm, 0.3 + (0.7 * index) / count) }
  })
}
