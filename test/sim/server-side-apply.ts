/** Server-side apply, as far as histories of models need it: who owns the number of pods of a Deployment. */
import type { KubeObject } from '../../src/kube/object.ts'
import type { Deployment } from '../../src/kube/resources.ts'

/** Equal for equal intents. Most of a Deployment is its template, of which only the first container ever changes here. */
export function textOf(intent: KubeObject): string {
  if (intent.kind !== 'Deployment') return JSON.stringify(intent)
  const { metadata, spec } = intent as Deployment
  const { template, ...rest } = spec ?? {}
  return JSON.stringify([metadata.annotations, rest, template?.spec?.containers[0]])
}

/** Another number of pods than the intent has: drift, which the operator reverts. */
export function isRescaled({ spec }: Deployment, before: Deployment): boolean {
  return spec?.replicas !== undefined && spec.replicas !== before.spec?.replicas
}

/** On a Deployment: an autoscaler owns the number of pods. */
export const AUTOSCALED = 'autoscaled'

/** An autoscaler sets the number of pods. */
export function withReplicas(deployment: Deployment, replicas: number): Deployment {
  const { metadata, spec } = deployment
  const generation = (metadata.generation ?? 0) + 1
  const moved: object = { ...deployment, metadata: { ...metadata, generation }, spec: { ...spec, replicas } }
  return withAnnotation(moved as Deployment)
}

/** What the server stores of an intent. */
export function applied(
  intent: KubeObject,
  before: KubeObject | undefined,
  intended: KubeObject | undefined,
  uid: string,
): KubeObject {
  const generation = (before?.metadata.generation ?? 0) + 1
  const metadata = { ...intent.metadata, uid: before?.metadata.uid ?? uid, generation }
  const object: object = { ...before, ...intent, metadata }
  return intent.kind === 'Deployment' ? numbered(object as Deployment, before, intended) : (object as KubeObject)
}

/** The owner of the field sets the number of pods: we, or the autoscaler once it has set one. Else one by default. */
function numbered(intent: Deployment, before?: Deployment, intended?: Deployment): Deployment {
  if (intent.spec?.replicas !== undefined || !before) return intent
  const isOurs = before.metadata.annotations?.[AUTOSCALED] === undefined && intended?.spec?.replicas !== undefined
  const object: object = { ...intent, spec: { ...intent.spec, replicas: isOurs ? 1 : (before.spec?.replicas ?? 1) } }
  return isOurs ? (object as Deployment) : withAnnotation(object as Deployment)
}

function withAnnotation(deployment: Deployment): Deployment {
  const { metadata } = deployment
  return { ...deployment, metadata: { ...metadata, annotations: { ...metadata.annotations, [AUTOSCALED]: 'yes' } } }
}
