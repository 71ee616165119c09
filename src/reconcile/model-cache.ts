/** The cache of ModelDeployments. The training and the serving controller share it: the one that is added first creates it. */
import { modelDeployments } from '../api/kinds.ts'
import type { ModelDeployment } from '../api/modeldeployment.v1.ts'
import { apiVersionOf, keyOf, keyString, type KubeObject } from '../kube/object.ts'
import { type Model, runtimeNameOf } from '../plan/serving/index.ts'
import type { Cache, Caches } from '../runtime/index.ts'

/** Indexes: models by their ModelServer and by uid. */
export const SERVER = 'server'
export const UID = 'uid'

export const modelIndexes = {
  [UID]: ({ metadata }: KubeObject): string[] => [metadata.uid ?? ''],
  [SERVER]: serverKeys,
}

interface Scope {
  readonly namespace?: string | readonly string[]
}

export function modelCache(caches: Caches, scope: Scope): Cache<ModelDeployment> {
  const { kind } = modelDeployments
  const [known] = caches.ofKind({ apiVersion: apiVersionOf(modelDeployments), kind })
  return known ? caches.of(modelDeployments) : caches.of(modelDeployments, { ...scope, indexes: modelIndexes })
}

function serverKeys(model: Model): string[] {
  const name = runtimeNameOf(model)
  return name === undefined ? [] : [keyString({ ...keyOf(model), name })]
}
