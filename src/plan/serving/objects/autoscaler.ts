/** The HorizontalPodAutoscaler of a version. */
import { HorizontalPodAutoscaler } from '../../../kube/resources.ts'
import { serverLabels } from '../../model-names.ts'
import type { ServingConfig } from '../config.ts'
import { isAutoscaled, type ServedModel, type VersionScaling } from '../observe/served-model.ts'
import type { Version } from '../observe/version.ts'
import { child } from './child.ts'

export function autoscaler(model: ServedModel, version: Version, config: ServingConfig): HorizontalPodAutoscaler[] {
  const scaling = version.wanted?.scaling
  if (!scaling || !isAutoscaled(scaling)) return []
  return [
    {
      ...child(model, HorizontalPodAutoscaler, version.autoscalerName, { component: 'server', version: version.name }),
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: version.deploymentName },
        minReplicas: scaling.minReplicas,
        maxReplicas: scaling.maxReplicas,
        metrics: metricsOf(scaling, serverLabels(model, version.name), config),
      },
    },
  ]
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
    ...perPod(metricNames.concurrency, scaling.targetConcurrency),
    ...perPod(metricNames.gpuUtilization, scaling.targetGPUUtilization),
    ...queue(scaling.targetQueueDepth),
  ]
}
