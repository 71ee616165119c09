/** The ConfigMap of a job: files for the training code. A pod keeps the content from the time it started. */
import type { TrainingJob, TrainingJobSpec } from '../../../api/trainingjob.v1.ts'
import type { ConfigMap } from '../../../kube/resources.ts'
import { frameworkOf } from '../frameworks/registry.ts'
import { configMapName, objectLabels } from '../names.ts'
import type { Attempt } from '../observe/attempt.ts'
import { backendOf } from './environment.ts'

/** Only where there are hyperparameters or files of the framework; the environment has everything else. */
export const hasConfigMap = (spec: TrainingJobSpec): boolean =>
  spec.hyperparameters !== undefined || (frameworkOf(spec).files ?? []).length > 0

export const configMaps = (job: TrainingJob, attempt: Attempt): ConfigMap[] =>
  hasConfigMap(job.spec) ? [configMap(job, attempt)] : []

function configMap(job: TrainingJob, attempt: Attempt): ConfigMap {
  const { spec } = job
  const { files = [] } = frameworkOf(spec)
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: configMapName(job), labels: objectLabels(job, 'config') },
    data: {
      model: spec.model ?? '',
      dataset: spec.dataset ?? '',
      framework: spec.framework,
      backend: backendOf(spec),
      master_port: String(spec.networking.masterPort),
      'hyperparameters.json': JSON.stringify(spec.hyperparameters ?? {}, null, 2),
      ...Object.fromEntries(files.map(({ key, content }) => [key, content(job, attempt)])),
    },
  }
}
