/** All objects of a model as they should be, and those that should be gone. */
import { type KubeObject, nameWithKind } from '../../kube/object.ts'
import type { Annotated } from '../../kube/plan.ts'
import { cacheClaims } from './cache-claim.ts'
import { configMaps } from './config-map.ts'
import { deployment } from './deployment.ts'
import { versionedName } from '../model-names.ts'
import { autoscaler, budget } from './scale.ts'
import type { Scene } from './scene.ts'
import { modelService, versionService } from './services.ts'
import { isWanted, type State, type VersionState } from './state.ts'
import { serviceOf } from './way.ts'

export interface Children {
  readonly apply: readonly KubeObject[]
  readonly prune: readonly KubeObject[]
  readonly annotate: readonly Annotated[]
}

export function childrenOf(scene: Scene, state: State): Children {
  const { model, observed } = scene
  const { routing } = state
  const { ways, way, weights } = routing
  const staying = state.versions.filter(({ retirement }) => !retirement.isOver)
  const written = staying.filter(({ isWritten }) => isWritten)
  const version = (object: (one: VersionState) => readonly KubeObject[]) => written.flatMap(object)
  const entrance = serviceOf(scene)
  const routes = ways.flatMap(({ rendered }) => rendered.apply)
  const apply = [
    ...configMaps(model),
    ...cacheClaims(model),
    ...version(({ version: { name } }) => [versionService(model, name)]),
    ...version((one) => deploymentsOf(scene, one)),
    ...version((one) => (one.isAutoscaled ? autoscaler(model, one.version, observed.config) : [])),
    ...version((one) => budget(model, one.version)),
    ...staying.flatMap(({ validation }) => validation?.job ?? []),
    // While nobody is ready, traffic stays where it is.
    ...(weights ? routes : []),
    ...(weights || !entrance ? [modelService(model, way.rendered)] : []),
  ]
  const kept = new Set([...apply, ...routes, ...(entrance ? [entrance] : [])].map(nameWithKind))
  for (const one of staying) for (const key of keysOf(scene, one)) kept.add(key)
  return {
    apply,
    prune: observedChildren(scene).filter((object) => !kept.has(nameWithKind(object)) && !isGoing(object)),
    annotate: weights ? ways.flatMap(({ rendered }) => rendered.annotate) : [],
  }
}

function deploymentsOf({ model, observed }: Scene, { version, replicas }: VersionState): KubeObject[] {
  return isWanted(version) ? [deployment(model, version, observed.config, replicas)] : []
}

/** What stays although this plan does not write it: all of a version that is leaving or that waits for a verdict. */
function keysOf({ model }: Scene, { version, isWritten, validation }: VersionState): string[] {
  const job = validation ? [`Job/${validation.jobName}`] : []
  if (isWritten) return job
  const own = versionedName(model, version.name)
  return [
    ...job,
    `Deployment/${version.deploymentName}`,
    `Service/${own}`,
    `HorizontalPodAutoscaler/${version.autoscalerName}`,
    `PodDisruptionBudget/${own}`,
  ]
}

/** Claims are not among them: data is never deleted here. */
function observedChildren({ observed }: Scene): readonly KubeObject[] {
  const { autoscalers, budgets, jobs, traffic, deployments, services, configMaps: files } = observed
  return [...traffic.routes, ...autoscalers, ...budgets, ...jobs, ...deployments, ...services, ...files]
}

const isGoing = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined
