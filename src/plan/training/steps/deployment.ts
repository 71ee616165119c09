/**
 * `spec.output.deploy` of a completed job: the model becomes a version of a ModelDeployment, once.
 *
 * The weights of a model sum to 100, and those of other versions belong to others. So a version is added with weight 0, and
 * only a model that does not exist yet is created with all traffic for it. A version that gets traffic is never changed.
 *
 * The weight follows from whether the model exists, which the write itself changes. So it is recorded first, and the version
 * counts as deployed when it is observed in the model.
 */
import { getCondition, type Verdict } from '../../../api/conditions.ts'
import { defaultRuntimes } from '../../../api/default-runtimes.ts'
import { compact, sameJson } from '../../../api/json.ts'
import type { ModelDeployment } from '../../../api/modeldeployment.v1.ts'
import { MAX_VERSIONS } from '../../../api/serving-version.ts'
import type { DeployedVersion, OutputStatus } from '../../../api/training-output.ts'
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import type { EventNote, PlannedWrite } from '../../../decision/plan.ts'
import type { Trouble } from '../../pod-trouble.ts'
import {
  type Deploy,
  frameworkOf,
  modelPathOf,
  newModel,
  newVersion,
  type Target,
  versionOf,
} from '../objects/deployed-model.ts'
import { modelDeployed, notDeployed } from '../report/events.ts'

export const MODEL_DEPLOYED = 'ModelDeployed'

export interface OutputDecision {
  readonly output?: OutputStatus
  readonly verdict?: Verdict
  readonly writes: readonly PlannedWrite[]
  readonly events: readonly EventNote[]
}

const ALL_TRAFFIC = 100

const NOTHING: OutputDecision = { writes: [], events: [] }

/** `model`: the ModelDeployment that `deploy.name` names, if it exists. */
export function deployOutput(job: TrainingJob, model: ModelDeployment | undefined): OutputDecision {
  const modelPath = modelPathOf(job)
  const { deploy } = job.spec.output ?? {}
  if (modelPath === undefined || job.status?.state !== 'Completed') return NOTHING
  if (!deploy) return { ...NOTHING, output: { ...job.status.output, modelPath } }
  return isDeployed(job)
    ? NOTHING
    : approach({ job, deploy, version: nextVersion(job, deploy, model), modelPath }, model)
}

/** One step towards the version: records what will be written, writes it, or records that it is there. */
function approach(target: Target, model: ModelDeployment | undefined): OutputDecision {
  const { job, deploy, version, modelPath } = target
  if (versionIn(model, version.version)?.modelPath === modelPath) return deployed(target)
  const obstacle = obstacleOf(job, deploy, model)
  if (obstacle) return blocked(job, obstacle)
  const { output } = job.status ?? {}
  if (!sameJson(version, output?.deploying)) return { ...NOTHING, output: { ...output, modelPath, deploying: version } }
  return { writes: [model ? newVersion(target, model) : newModel(target)], events: [] }
}

function nextVersion(job: TrainingJob, deploy: Deploy, model: ModelDeployment | undefined): DeployedVersion {
  const version = versionOf(job, deploy)
  const weight = model ? (versionIn(model, version)?.weight ?? 0) : ALL_TRAFFIC
  return { name: deploy.name, version, weight }
}

const versionIn = (model: ModelDeployment | undefined, version: string) =>
  model?.spec.versions.find(({ name }) => name === version)

/** Whether the version that the spec names is deployed. */
export function isDeployed({ metadata, spec, status }: TrainingJob): boolean {
  const { deploy } = spec.output ?? {}
  const { deployed: done } = status?.output ?? {}
  return done !== undefined && done.name === deploy?.name && done.version === (deploy.version ?? metadata.name)
}

/** Whether a ModelDeployment still has to get the model. */
export const awaitsDeployment = (job: TrainingJob): boolean =>
  job.status?.state === 'Completed' && job.spec.output?.deploy !== undefined && !isDeployed(job)

function deployed({ job, version, modelPath }: Target): OutputDecision {
  const { deploying: _done, ...output } = job.status?.output ?? {}
  const message = `ModelDeployment ${version.name} has version ${version.version} with weight ${version.weight}`
  return {
    ...NOTHING,
    output: { ...output, modelPath, deployed: version },
    verdict: verdictOf(job, 'True', { reason: MODEL_DEPLOYED, message }),
    events: [modelDeployed(message)],
  }
}

/** Why the version cannot be written until a person acts. */
function obstacleOf(job: TrainingJob, deploy: Deploy, model: ModelDeployment | undefined): Trouble | undefined {
  const version = versionOf(job, deploy)
  if (!model) return hasRuntime(job, deploy) ? undefined : runtimeNeeded(deploy)
  const found = versionIn(model, version)
  const of = `version ${version} of ModelDeployment ${deploy.name}`
  if (model.metadata.deletionTimestamp !== undefined)
    return {
      reason: 'ModelTerminating',
      message: `ModelDeployment ${deploy.name} is being deleted; it is created again`,
    }
  if (found && found.weight > 0)
    return {
      reason: 'VersionInUse',
      message: `${of} gets traffic and has another modelPath: set spec.output.deploy.version to another name, or the weight of the version to 0`,
    }
  if (!found && model.spec.versions.length >= MAX_VERSIONS)
    return {
      reason: 'TooManyVersions',
      message: `${of} would be one too many, the limit is ${MAX_VERSIONS}: remove a version`,
    }
  return undefined
}

const hasRuntime = (job: TrainingJob, deploy: Deploy): boolean =>
  deploy.runtime !== undefined || deploy.image !== undefined || frameworkOf(job, deploy) in defaultRuntimes

const runtimeNeeded = ({ name }: Deploy): Trouble => ({
  reason: 'RuntimeNeeded',
  message: `ModelDeployment ${name} does not exist: create it, or set spec.output.deploy.runtime or spec.output.deploy.image`,
})

/** Records once why the model is not deployed. */
export function blocked(job: TrainingJob, { reason, message }: Trouble): OutputDecision {
  const { deploying: _undone, ...output } = job.status?.output ?? {}
  const known = getCondition(job.status?.conditions, MODEL_DEPLOYED)
  const isKnown = known?.status === 'False' && known.reason === reason && known.message === message
  return {
    ...NOTHING,
    output: compact({ ...output, modelPath: modelPathOf(job) }),
    verdict: verdictOf(job, 'False', { reason, message }),
    events: isKnown ? [] : [notDeployed(reason, message)],
  }
}

function verdictOf({ metadata }: TrainingJob, status: Verdict['status'], { reason, message }: Trouble): Verdict {
  const { generation } = metadata
  return {
    type: MODEL_DEPLOYED,
    status,
    reason,
    message,
    ...(generation !== undefined && { observedGeneration: generation }),
  }
}
