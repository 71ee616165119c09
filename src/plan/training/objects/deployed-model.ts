/** The ModelDeployment of `spec.output.deploy`: where the model is, and what is written. */
import type { ModelDeployment } from '../../../api/modeldeployment.v1.ts'
import type { DeployedVersion } from '../../../api/training-output.ts'
import type { TrainingJob, TrainingJobSpec } from '../../../api/trainingjob.v1.ts'
import type { PlannedWrite } from '../../../decision/plan.ts'
import type { KubeObject } from '../../../kube/object.ts'
import { checkpointRoot } from './checkpoint-storage.ts'
import { checkpointClaim, hasCheckpointClaim } from './claims.ts'

export type Deploy = NonNullable<NonNullable<TrainingJobSpec['output']>['deploy']>

/** `spec.output.path` as a URI. A relative path is below the checkpoints: on their volume or in their bucket. */
export function modelPathOf(job: TrainingJob): string | undefined {
  const path = job.spec.output?.path
  if (path === undefined || path.includes('://')) return path
  const root = hasCheckpointClaim(job.spec) ? `pvc://${checkpointClaim(job)}` : checkpointRoot(job.spec)
  return `${root}/${path}`
}

export const versionOf = (job: TrainingJob, { version = job.metadata.name }: Deploy): string => version

export function frameworkOf({ spec }: TrainingJob, { framework = spec.framework }: Deploy): string {
  return framework
}

export interface Target {
  readonly job: TrainingJob
  readonly deploy: Deploy
  readonly version: DeployedVersion
  readonly modelPath: string
}

const head = ({ name }: DeployedVersion) => ({
  apiVersion: 'ml.example.com/v1',
  kind: 'ModelDeployment',
  metadata: { name },
})

const entry = ({ version, modelPath }: Target) => ({ name: version.version, weight: version.weight, modelPath })

/** A model that does not exist yet. It has no owner, because it outlives the job. */
export function newModel(target: Target): PlannedWrite {
  const { job, deploy, version } = target
  const { modelName = deploy.name, runtime, image, resources } = deploy
  const spec = {
    modelName,
    framework: frameworkOf(job, deploy),
    ...(runtime !== undefined && { runtime }),
    ...(image !== undefined && { image }),
    versions: [entry(target)],
    ...(resources && { resources }),
  }
  return { how: 'createUnowned', object: { ...head(version), spec } as KubeObject }
}

/** One field manager for each version: versions of other jobs, and all other fields, stay as they are. */
export function newVersion(target: Target, { metadata }: ModelDeployment): PlannedWrite {
  const { apiVersion, kind } = head(target.version)
  const { name, uid } = metadata
  const object = { apiVersion, kind, metadata: { name, ...(uid !== undefined && { uid }) } }
  return {
    how: 'contribute',
    object: { ...object, spec: { versions: [entry(target)] } } as KubeObject,
    fieldManager: `ml-operator-output-${target.version.version}`,
  }
}
