/** All objects of a model as they should be, and those to delete. */
import { type KubeObject, nameWithKind } from '../../../kube/object.ts'
import { type Plan, toDelete, toWrite, type PlannedWrite } from '../../../decision/plan.ts'
import { cacheClaims } from './cache-claim.ts'
import { configMaps } from './config-map.ts'
import { mountedFiles } from './mounted-files.ts'
import { deployment } from './deployment.ts'
import { VERSION_LABEL, versionedName } from '../../model-names.ts'
import { autoscaler } from './autoscaler.ts'
import { budget } from './disruption-budget.ts'
import type { ModelView } from '../observe/view.ts'
import { modelService, previewService, versionService } from './services.ts'
import type { Decisions, VersionDecision } from '../decisions.ts'
import { modelOf } from '../observe/served-model.ts'
import { isWanted } from '../observe/version.ts'
import { jobsToStart, keptJobs } from '../rollout/analysis-jobs.ts'
import { isRecreating, previewed } from '../rollout/strategy.ts'
import type { ProviderState } from '../steps/provider-state.ts'

export function childrenOf(view: ModelView, decisions: Decisions): Pick<Plan, 'writes' | 'deletions'> {
  const { routing } = decisions
  const staying = decisions.versions.filter(({ retirement }) => !retirement.isOver)
  const children = [...objectsOf(view, staying), ...trafficObjects(view, decisions)]
  const kept = new Set(
    [...children, ...routesOf(routing.active), ...(view.service ? [view.service] : [])].map(nameWithKind),
  )
  for (const one of staying) for (const key of keysOf(view, one)) kept.add(key)
  for (const name of keptJobs(view)) kept.add(`Job/${name}`)
  for (const name of mountedFiles(view)) kept.add(`ConfigMap/${name}`)
  const unwanted = observedChildren(view).filter((object) => !kept.has(nameWithKind(object)) && !isTerminating(object))
  const sickPods = staying.flatMap(({ replacement }) => replacement.evict ?? [])
  return {
    writes: [...toWrite('apply', children), ...annotations(decisions)],
    deletions: [
      ...unwanted.flatMap((object) => toDelete(isAwaitedToGo(view, object) ? 'foreground' : 'graceful', [object])),
      ...toDelete('evict', sickPods),
    ],
  }
}

/** How running proxies get their weights. */
function annotations({ routing }: Decisions): PlannedWrite[] {
  if (!routing.weights) return []
  const targets = routing.active.flatMap(({ rendered }) => rendered.annotate)
  return targets.map((target) => ({ how: 'annotate', ...target }))
}

/** Objects of the versions, in the order in which they need each other. */
function objectsOf(view: ModelView, staying: readonly VersionDecision[]): readonly KubeObject[] {
  const { model, observed, port } = view
  const written = staying.filter(({ isWritten }) => isWritten)
  return [
    ...fileMaps(view),
    ...cacheClaims(model),
    ...written.map(({ version }) => versionService(model, version.name, port)),
    ...previewsOf(view),
    ...written.flatMap((one) => deploymentsOf(view, one)),
    ...written.flatMap((one) => (one.isAutoscaled ? autoscaler(model, one.version, observed.config) : [])),
    ...written.flatMap((one) => budget(model, one.version)),
    ...staying.flatMap(({ validation }) => validation?.job ?? []),
    ...jobsToStart(view),
  ]
}

function previewsOf({ model, port, travel }: ModelView): readonly KubeObject[] {
  const version = travel && previewed(travel)
  return version === undefined ? [] : [previewService(model, version, port)]
}

/** Of every revision that has versions, each once. */
function fileMaps({ model }: ModelView): readonly KubeObject[] {
  const maps = model.versions.flatMap((version) => configMaps(modelOf(model, version)))
  return [...new Map(maps.map((map) => [map.metadata.name, map])).values()]
}

/** The Service and the routes. While no version is ready, traffic stays where it is. */
function trafficObjects({ model, service, port }: ModelView, { routing }: Decisions): readonly KubeObject[] {
  const { active, current, weights } = routing
  return [
    ...(weights ? routesOf(active.filter(({ isAvailable }) => isAvailable)) : []),
    ...(weights || !service ? [modelService(model, { selector: current.rendered.selector, port })] : []),
  ]
}

const routesOf = (states: readonly ProviderState[]): readonly KubeObject[] =>
  states.flatMap(({ rendered }) => rendered.apply)

function deploymentsOf({ model, observed }: ModelView, { version, replicas, surge }: VersionDecision): KubeObject[] {
  if (!isWanted(version)) return []
  const { maxSurge, template } = surge
  const settings = {
    maxSurge,
    ...(replicas !== undefined && { replicas }),
    ...(template !== undefined && { template }),
  }
  return [deployment(model, version, observed.config, settings)]
}

/** Objects that stay although this plan does not write them: those of versions that drain or are being validated. */
function keysOf({ model }: ModelView, { version, isWritten, validation }: VersionDecision): string[] {
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

/** Without claims: data is never deleted here. */
function observedChildren({ observed }: ModelView): readonly KubeObject[] {
  const { autoscalers, budgets, jobs, traffic, deployments, services, configMaps: files } = observed
  return [...traffic.routes, ...autoscalers, ...budgets, ...jobs, ...deployments, ...services, ...files]
}

/** Other versions start only when its pods are gone. */
const isAwaitedToGo = ({ travel }: ModelView, { kind, metadata }: KubeObject): boolean =>
  travel !== undefined &&
  isRecreating(travel) &&
  kind === 'Deployment' &&
  metadata.labels?.[VERSION_LABEL] !== undefined

const isTerminating = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined
