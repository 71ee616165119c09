/** Training: the only module that other folders import. */
export { defaultTrainingConfig, retentions, type TrainingConfig, trainingConfigProblem } from './config.ts'
export { gangKindName, gangKinds, gangs } from './gangs/registry.ts'
export type { GangKind, GangScheduler } from './gangs/contract.ts'
export type { SecretData, SecretGenerator } from './frameworks/contract.ts'
export { trainingImages } from './frameworks/images.ts'
export { gpusOf } from './frameworks/roles.ts'
export { planRejection, planTraining } from './lifecycle.ts'
export {
  ATTEMPT_LABEL,
  checkpointPodName,
  CONTAINER,
  FINALIZER,
  historyName,
  INDEX_LABEL,
  JOB_UID_LABEL,
  ROLE_LABEL,
  TEMPLATE_ANNOTATION,
  WORKER,
  workloadName,
} from './names.ts'
export { resumedJobName, watchedClaims } from './objects/resume-source.ts'
export { type GeneratedData, secretsToGenerate } from './objects/generated-secrets.ts'
export {
  type CurvePoint,
  type HistoryDocument,
  historyDocument,
  type PodLog,
  podLog,
  shortened,
} from './objects/history.ts'
export { historyMembers, needsHistory, unexplainedMembers } from './observe/history.ts'
export { isMember, membershipOf } from './observe/membership.ts'
export type { GpuNode, NodeFacts, Reporting, Stillness, TrainingObserved } from './observe/observed.ts'
export { gpuNodeAddresses } from './report/gpu-utilization.ts'
export type { PlannedStatus } from './report/status.ts'
export { trackedRun } from './objects/tracked-run.ts'
export { isFinished } from './observe/state.ts'
export { progressTarget } from './observe/progress-target.ts'
export { type ProgressMark, progressMark } from './observe/stall.ts'
export { slowRank } from './observe/slow-worker.ts'
export { stuckClaims } from './observe/pending-claims.ts'
export { type Acceptance, acceptanceOf } from './steps/acceptance.ts'
export { quotaReferences } from './observe/quota.ts'
export { type Reference, referenceKey } from './gangs/quota.ts'
export { awaitsDeployment } from './steps/deployment.ts'
export { type DeletionPlan, planDeletion } from './steps/deletion.ts'
export { needsLiveRead } from './steps/live-read.ts'
export type { TrainingPlan } from './steps/step.ts'
