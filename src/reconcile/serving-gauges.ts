/** The gauges of the ModelDeployments of both API groups: what their status says. */
import type { ActiveVersion } from '../api/serving-status.ts'
import type { Model } from '../plan/serving/index.ts'
import { ObjectGauges, type ObjectGaugesOptions, sampleOf } from './object-gauges.ts'

const MODEL = ['group', 'name'] as const

interface VersionGauge {
  readonly name: string
  readonly help: string
  readonly value: (version: ActiveVersion) => number | undefined
}

/** One series for each version. */
const versionGauges: readonly VersionGauge[] = [
  {
    name: 'model_version_weight_percent',
    help: 'Current share of the traffic of a version in percent',
    value: ({ weight }) => weight,
  },
  { name: 'model_version_replicas', help: 'Pods of a version', value: ({ replicas }) => replicas },
  {
    name: 'model_version_healthy_replicas',
    help: 'Pods of a version that pass their health check',
    value: ({ healthyReplicas }) => healthyReplicas,
  },
]

export type ServingGaugesOptions = Omit<ObjectGaugesOptions<Model>, 'isActive'>

export function addServingGauges(options: ServingGaugesOptions): void {
  const gauges = new ObjectGauges({ ...options, isActive: ({ status }) => status?.phase !== 'Running' })
  const phase = { name: 'model_deployment_phase', help: '1 for the phase that a model is in; it has no other series' }
  gauges.add({ ...phase, labelNames: [...MODEL, 'phase'] }, (model) => [
    [{ ...labelsOf(model), phase: model.status?.phase ?? 'Pending' }, 1],
  ])
  for (const { name, help, value } of versionGauges)
    gauges.add({ name, help, labelNames: [...MODEL, 'version'] }, (model) =>
      (model.status?.activeVersions ?? []).flatMap((version) =>
        sampleOf({ ...labelsOf(model), version: version.name }, value(version)),
      ),
    )
  gauges.addOmitted('model_deployment_objects_omitted', 'ModelDeployments without series, because there are too many')
}

function labelsOf({ apiVersion, metadata: { name } }: Model): Record<(typeof MODEL)[number], string> {
  return { group: apiVersion.split('/')[0] ?? '', name }
}
