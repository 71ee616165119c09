/** An annotation that stops the operator from changing an object and its children. Its deletion is still carried out. */
import type { KubeObject } from '../kube/object.ts'

export const PAUSED_ANNOTATION = 'ml.example.com/paused'

/** Any value but `false` pauses: whoever writes `yes` or leaves it empty means it. */
export function isPaused({ metadata }: KubeObject): boolean {
  const value = metadata.annotations?.[PAUSED_ANNOTATION]
  return value !== undefined && value !== 'false'
}
