/** What the training code may read about its job, as files. The pods see it as it was when they started. */
import type { TrainingJob } from '../../api/trainingjob.v1.ts'
import type { ConfigMap } from '../../kube/resources.ts'
import { type Attempt, procsPerWorker } from './attempt.ts'
import { backendOf } from './environment/environment.ts'
import { configMapName, jobLabels, podName, serviceName, WORKER } from './names.ts'
import { hasConfigMap } from './volumes.ts'

export const configMaps = (job: TrainingJob, attempt: Attempt): ConfigMap[] =>
  hasConfigMap(job.spec) ? [configMap(job, attempt)] : []

function configMap(job: TrainingJob, attempt: Attempt): ConfigMap {
  const { spec } = job
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: configMapName(job), labels: jobLabels(job) },
    data: {
      model: spec.model ?? '',
      dataset: spec.dataset ?? '',
      framework: spec.framework,
      backend: backendOf(spec),
      master_port: String(spec.networking.masterPort),
      'hyperparameters.json': JSON.stringify(spec.hyperparameters ?? {}, null, 2),
      ...(spec.framework === 'mpi' && { hostfile: hostfile(job, attempt) }),
    },
  }
}

function hostfile(job: TrainingJob, { worldSize }: Attempt): string {
  const slots = procsPerWorker(job.spec)
  const line = (index: number): string => `${podName(job, WORKER, index)}.${serviceName(job)} slots=${slots}\n`
  return Array.from({ length: worldSize }, (_, index) => line(index)).join('')
}
