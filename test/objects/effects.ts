/**
 * The effect of each leaf of our schemas: the kinds of children that change with it, or why no child does. A leaf without an
 * entry fails the tests, so every new field is declared here and shown by a transition.
 */

export interface Effect {
  /** Of the leaf; `[]` stands for an item of a list, `{}` for a value of a map. */
  readonly path: RegExp
  /** At least one of these changes. */
  readonly changes?: readonly string[]
  /** Why no child changes. */
  readonly nothing?: string
}

/** Leaves that no live object has. */
export const REJECTED = 'rejected at admission, with the field to use instead'

const rejectedFields =
  'activeDeadlineSeconds|ephemeralContainers\\b.*|host[nN]ame(Override)?|nodeName|priority(ClassName)?|restartPolicy|serviceAccount(Name)?|subdomain'

const rejectedInTraining = `(roles\\[\\]\\.)?podTemplate\\.spec\\.(${rejectedFields}|schedulerName)$`

const LATER = 'read when a worker ends, so a job at rest does not show it'
const GANG = ['Pod', 'Job']
const SERVERS = ['Deployment']

const training: readonly Effect[] = [
  { path: new RegExp(`^${rejectedInTraining}`), nothing: REJECTED },
  {
    path: /^(model|dataset|framework|engine|managedBy|roles\b.*|gpusPerWorker)$/,
    nothing: 'immutable: rejected at admission',
  },
  { path: /^(image|command\[\]|args\[\]|env\[\].*|envFrom\[\].*|procsPerWorker)$/, changes: GANG },
  { path: /^podTemplate\./, changes: GANG },
  { path: /^numWorkers$/, changes: GANG },
  { path: /^elastic\.(min|max)Workers$/, nothing: 'bounds of numWorkers, checked at admission' },
  { path: /^elastic\.(resizePolicy|maxWaitSeconds)$/, nothing: 'when a later change of numWorkers takes effect' },
  { path: /^suspend$/, changes: GANG },
  { path: /^hyperparameters/, changes: ['ConfigMap', ...GANG] },
  { path: /^checkpoint\.(enabled|frequency|storage\.(type|path))$/, changes: GANG },
  { path: /^checkpoint\.storage\.claimName$/, changes: GANG },
  { path: /^checkpoint\.(keepLast|resumeFrom)$/, nothing: 'read before the next attempt starts, and by new pods' },
  { path: /^checkpoint\.deleteOnCompletion$/, nothing: 'decides what happens to the claim when the job is deleted' },
  {
    path: /^checkpoint\.storage\.(size|storageClass|accessModes\[\])$/,
    nothing: 'of the claim when it is created; data is never changed',
  },
  { path: /^dataVolume\./, changes: GANG },
  { path: /^networking\./, changes: ['ConfigMap', 'Service', ...GANG] },
  { path: /^resources\./, changes: GANG },
  {
    path: /^(restartPolicy|backoffLimit|failurePolicy\..*|stall\..*|progress\..*|cleanPodPolicy|ttlSecondsAfterFinished)$/,
    nothing: LATER,
  },
  { path: /^output\./, nothing: 'read when the job completes' },
  { path: /^tracking\./, nothing: 'of the run in MLflow' },
  { path: /^activeDeadlineSeconds$/, nothing: 'a point in time: a job at rest before it does not show it' },
  { path: /^scheduling\.queueName$/, nothing: REJECTED },
  {
    path: /^scheduling\.(gang|gangTimeoutSeconds)$/,
    nothing: 'of PodGroups and of gangs that wait for nodes: a cluster without gang schedulers has none',
  },
  {
    path: /^(scheduling\..*|serviceAccountName|imagePullSecrets\[\].*|volumes\[\].*|volumeMounts\[\].*)$/,
    changes: GANG,
  },
]

const schedule: readonly Effect[] = [
  { path: new RegExp(`^jobTemplate\\.spec\\.${rejectedInTraining}`), nothing: REJECTED },
  { path: /^jobTemplate\.spec\.scheduling\.queueName$/, nothing: REJECTED },
  { path: /^jobTemplate\./, nothing: 'applies to the runs that start after the change' },
  { path: /./, nothing: 'decides when runs start and how long they are kept; a schedule at rest has none' },
]

const alpha: readonly Effect[] = [
  { path: /./, nothing: 'a view of v1: conversion is tested field by field in src/api/conversion.test.ts' },
]

const serving: readonly Effect[] = [
  { path: /^(modelName|framework|runtime|image)$/, changes: SERVERS },
  { path: /^versions\[\]\.name$/, changes: [...SERVERS, 'Service'] },
  { path: /^versions\[\]\.weight$/, changes: ['ConfigMap', 'ModelDeployment'] },
  {
    path: /^versions\[\]\.(modelPath|checksum|image|resources.*|args\[\]|env(From)?\[\].*|volume(s|Mounts)\[\].*)$/,
    changes: SERVERS,
  },
  { path: /^(versions\[\]\.)?scaling\./, changes: ['HorizontalPodAutoscaler', ...SERVERS] },
  { path: /^(resources\..*|args\[\]|env(From)?\[\].*|volume(s|Mounts)\[\].*)$/, changes: SERVERS },
  { path: new RegExp(`^(versions\\[\\]\\.)?podTemplate\\.spec\\.(${rejectedFields})$`), nothing: REJECTED },
  { path: /^(versions\[\]\.)?podTemplate\./, changes: SERVERS },
  { path: /^healthCheck\./, changes: SERVERS },
  { path: /^traffic\.provider$/, changes: [...SERVERS, 'ModelDeployment'] },
  { path: /^traffic\.(gateways|hostnames)\[\]$/, nothing: 'for istio and gateway; a router has neither' },
  { path: /^traffic\.(mirror|match\[\]|stickiness)\./, changes: ['ConfigMap'] },
  { path: /^traffic\.drainSeconds$/, nothing: 'how long a provider or version is kept after its last traffic' },
  { path: /^(rollout\..*|paused|historyLimit|rollbackTo\..*)$/, nothing: 'how traffic moves when the weights change' },
  { path: /^validation\./, changes: ['Job', 'ModelDeployment'] },
  {
    path: /^storage\.(size|storageClass|accessMode)$/,
    nothing: 'of the claim when it is created; data is never changed',
  },
  { path: /^storage\.(secretName|claimName|credentialsFile\..*|caBundle\..*)$/, changes: SERVERS },
  { path: /^(scheduling\..*|serviceAccountName|imagePullSecrets\[\].*)$/, changes: SERVERS },
]

const server: readonly Effect[] = [
  { path: /^files\[\]/, changes: ['ConfigMap', ...SERVERS] },
  { path: /./, changes: [...SERVERS, 'Service'] },
]

const mlops: readonly Effect[] = [
  { path: /^(modelURI|runtime|runtimeImage|resources\..*|version)$/, changes: SERVERS },
  { path: /^validateScript$/, changes: ['Job', 'ModelDeployment'] },
  { path: /^autoscale$/, changes: ['HorizontalPodAutoscaler', ...SERVERS] },
]

/** By `group/version Kind`. */
export const effects: Readonly<Record<string, readonly Effect[]>> = {
  'ml.example.com/v1 TrainingJob': training,
  'ml.example.com/v1 TrainingSchedule': schedule,
  'ml.example.com/v1alpha1 TrainingJob': alpha,
  'ml.example.com/v1 ModelDeployment': serving,
  'ml.example.com/v1 ModelServer': server,
  'mlops.sathvik.dev/v1 ModelDeployment': mlops,
}

export function effectOf(kind: string, leaf: string): Effect | undefined {
  return effects[kind]?.find(({ path }) => path.test(leaf))
}
