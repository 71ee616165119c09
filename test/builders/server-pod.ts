/** The rendered pod of a model's first version, on a built-in runtime or an image. */
import assert from 'node:assert/strict'
import { serverOf, servedModel } from '../../src/plan/serving/observe/served-model.ts'
import { defaultServingConfig } from '../../src/plan/serving/config.ts'
import { serverTemplate } from '../../src/plan/serving/objects/pod-template.ts'
import { modelDeployment } from '../sim/serving-cluster.ts'

export function template(spec: object, kind = serverTemplate) {
  const model = modelDeployment({ image: undefined, ...spec })
  const server = serverOf(model, undefined, {})
  assert.ok(server)
  const served = servedModel(model, server)
  const [first] = served.versions
  assert.ok(first)
  const pod = kind(served, first, defaultServingConfig)
  const [container] = pod.spec.containers
  assert.ok(container)
  return { pod, container, fetch: pod.spec.initContainers?.[0] }
}

/** One version with its model there. */
export const at = (modelPath: string) => ({ versions: [{ name: 'v1', weight: 100, modelPath }] })
