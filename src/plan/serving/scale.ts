/**
 * How many pods a version has. Its number is the autoscaler's to write where there is one, ours where there is none, and
 * never anybody's by accident: to stop saying a number that only we have said would reset it to one.
 */
import { HorizontalPodAutoscaler, PodDisruptionBudget } from '../../kube/resources.ts'
import { splitReplicas } from '../traffic/replicas.ts'
import { child } from './child.ts'
import type { ServingConfig } from './config.ts'
import { serverLabels, VERSION_LABEL, versionedName } from '../model-names.ts'
import type { ServedModel, VersionScaling } from './served-model.ts'
import { availableOf, replicasOf, type Version } from './version.ts'

/** On a Deployment: the number of pods that we said. */
export const REPLICAS_ANNOTATION = 'modeldeployment.ml.example.com/replicas'

export const isAutoscaled = ({ minReplicas, maxReplicas }: VersionScaling): boolean => minReplicas < maxReplicas

/**
 * The number to say; nothing if the autoscaler says it. We say the first one, since a pod alone should not have to wait
 * for the autoscaler's first look; and what we said is said on until an autoscaler has said something else: from then on
 * the field is its own.
 */
export function replicasSaid({ deployment }: Version, scaling: VersionScaling): number | undefined {
  if (!isAutoscaled(scaling) || !deployment) return scaling.minReplicas
  const said = deployment.metadata.annotations?.[REPLICAS_ANNOTATION]
  if (said === undefined || Number(said) !== deployment.spec?.replicas) return undefined
  return Math.max(Number(said), scaling.minReplicas)
}

/**
 * Numbers of pods when they divide the traffic. Who grows does so at once; who shrinks does so as far as there are more
 * pods available than there should be in all, so that no capacity is lost on the way. `isCarrying`: the numbers decide
 * about traffic already; before that nobody shrinks.
 */
export function splitOf(model: ServedModel, versions: readonly Version[], isCarrying: boolean): Map<string, number> {
  const wanted = new Map(model.versions.map(({ name, weight }) => [name, weight]))
  const total = Math.max(...model.versions.map(({ scaling }) => scaling.minReplicas))
  const split = splitReplicas(wanted, total)
  const available = versions.reduce((all, version) => all + availableOf(version), 0)
  let spare = isCarrying ? Math.max(0, available - [...split.values()].reduce((all, count) => all + count, 0)) : 0
  const counts = new Map<string, number>()
  for (const version of versions.filter((one) => one.wanted)) {
    const target = split.get(version.name) ?? 0
    const present = replicasOf(version)
    const idle = isCarrying ? Math.max(0, present - availableOf(version)) : 0
    const loss = Math.min(Math.max(0, present - target), idle + spare)
    spare -= Math.max(0, loss - idle)
    counts.set(version.name, Math.max(target, present - loss))
  }
  return counts
}

export function autoscaler(model: ServedModel, version: Version, config: ServingConfig): HorizontalPodAutoscaler[] {
  const scaling = version.wanted?.scaling
  if (!scaling || !isAutoscaled(scaling)) return []
  return [
    {
      ...child(model, HorizontalPodAutoscaler, version.autoscalerName, { [VERSION_LABEL]: version.name }),
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: version.deploymentName },
        minReplicas: scaling.minReplicas,
        maxReplicas: scaling.maxReplicas,
        metrics: metricsOf(scaling, serverLabels(model, version.name), config),
      },
    },
  ]
}

/** Why an autoscaler does not do its work, in its own words: mostly that there is nobody to measure for it. */
export function autoscalerTrouble(
  { name, autoscalerName }: Version,
  autoscalers: readonly HorizontalPodAutoscaler[],
): string | undefined {
  const own = autoscalers.find(({ metadata }) => metadata.name === autoscalerName)
  const inactive = own?.status?.conditions?.find(
    ({ type, status }) => status === 'False' && (type === 'AbleToScale' || type === 'ScalingActive'),
  )
  if (!inactive) return undefined
  const { reason = inactive.type, message = '' } = inactive
  return `${name}: the autoscaler ${autoscalerName} does not scale: ${reason}: ${message}`
}

type Metrics = NonNullable<NonNullable<HorizontalPodAutoscaler['spec']>['metrics']>

function metricsOf(scaling: VersionScaling, labels: Record<string, string>, { metricNames }: ServingConfig): Metrics {
  const use = (name: string, averageUtilization: number | undefined): Metrics =>
    averageUtilization === undefined
      ? []
      : [{ type: 'Resource', resource: { name, target: { type: 'Utilization', averageUtilization } } }]
  const perPod = (name: string, value: number | undefined): Metrics =>
    value === undefined
      ? []
      : [{ type: 'Pods', pods: { metric: { name }, target: { type: 'AverageValue', averageValue: String(value) } } }]
  const queue = (value: number | undefined): Metrics => {
    if (value === undefined) return []
    const metric = { name: metricNames.queueDepth, selector: { matchLabels: labels } }
    return [{ type: 'External', external: { metric, target: { type: 'AverageValue', averageValue: String(value) } } }]
  }
  return [
    ...use('cpu', scaling.targetCPUUtilization),
    ...use('memory', scaling.targetMemoryUtilization),
    ...perPod(metricNames.requestsPerSecond, scaling.targetRequestsPerSecond),
    ...perPod(metricNames.gpuUtilization, scaling.targetGPUUtilization),
    ...queue(scaling.targetQueueDepth),
  ]
}

/** None for a single pod: it would keep its node from ever being drained. */
export function budget(model: ServedModel, version: Version): PodDisruptionBudget[] {
  const { minReplicas = 1 } = version.wanted?.scaling ?? {}
  if (minReplicas < 2) return []
  const labels = serverLabels(model, version.name)
  return [
    {
      ...child(model, PodDisruptionBudget, versionedName(model, version.name), { [VERSION_LABEL]: version.name }),
      spec: { minAvailable: minReplicas - 1, selector: { matchLabels: labels } },
    },
  ]
}
