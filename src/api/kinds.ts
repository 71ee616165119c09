/** All kinds of the operator, and their REST resources. */

import type { Resource } from '../kube/object.ts'
import { type Kind, resourceOf } from './kind.ts'
import { type MlopsModelDeployment, mlopsModelDeploymentV1 } from './mlops-modeldeployment.v1.ts'
import { type ModelDeployment, modelDeploymentV1 } from './modeldeployment.v1.ts'
import { type ModelServer, modelServerV1 } from './modelserver.v1.ts'
import { type TrainingJob, trainingJobV1 } from './trainingjob.v1.ts'
import { type AlphaTrainingJob, trainingJobV1alpha1 } from './trainingjob.v1alpha1.ts'
import { type TrainingSchedule, trainingScheduleV1 } from './trainingschedule.v1.ts'

export const GROUP = 'ml.example.com'
export const MLOPS_GROUP = 'mlops.sathvik.dev'

/** `kubectl get ml` lists every kind. */
export const CATEGORY = 'ml'

export const trainingJobKind = {
  group: GROUP,
  kind: 'TrainingJob',
  plural: 'trainingjobs',
  shortNames: ['tj'],
  maxNameLength: 50, // {name}-workers-1023 is a hostname
  versions: [trainingJobV1, trainingJobV1alpha1],
} as const satisfies Kind

export const trainingScheduleKind = {
  group: GROUP,
  kind: 'TrainingSchedule',
  plural: 'trainingschedules',
  shortNames: ['ts'],
  maxNameLength: 41, // {name}-29706180 is the name of a TrainingJob
  versions: [trainingScheduleV1],
} as const satisfies Kind

export const modelDeploymentKind = {
  group: GROUP,
  kind: 'ModelDeployment',
  plural: 'modeldeployments',
  shortNames: ['md'],
  maxNameLength: 50, // {name}-deployment and {name}-service
  versions: [modelDeploymentV1],
} as const satisfies Kind

export const modelServerKind = {
  group: GROUP,
  kind: 'ModelServer',
  plural: 'modelservers',
  shortNames: ['ms'],
  maxNameLength: 63, // the name is used as a label value
  versions: [modelServerV1],
} as const satisfies Kind

export const mlopsModelDeploymentKind = {
  group: MLOPS_GROUP,
  kind: 'ModelDeployment',
  plural: 'modeldeployments',
  shortNames: [],
  maxNameLength: 50,
  versions: [mlopsModelDeploymentV1],
} as const satisfies Kind

export const kinds: readonly Kind[] = [
  trainingJobKind,
  trainingScheduleKind,
  modelDeploymentKind,
  modelServerKind,
  mlopsModelDeploymentKind,
]

export const trainingJobs: Resource<TrainingJob> = resourceOf(trainingJobKind, 'v1')
export const alphaTrainingJobs: Resource<AlphaTrainingJob> = resourceOf(trainingJobKind, 'v1alpha1')
export const trainingSchedules: Resource<TrainingSchedule> = resourceOf(trainingScheduleKind, 'v1')
export const modelDeployments: Resource<ModelDeployment> = resourceOf(modelDeploymentKind, 'v1')
export const modelServers: Resource<ModelServer> = resourceOf(modelServerKind, 'v1')
export const mlopsModelDeployments: Resource<MlopsModelDeployment> = resourceOf(mlopsModelDeploymentKind, 'v1')
