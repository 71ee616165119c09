/** Training: the only module that other folders import. */
export { defaultTrainingConfig, type TrainingConfig } from './config.ts'
export type { SecretData, SecretGenerator } from './frameworks/contract.ts'
export { trainingImages } from './frameworks/images.ts'
export { gpusOf } from './frameworks/roles.ts'
export { planRejection, planTraining } from './lifecycle.ts'
export {
  ATTEMPT_LABEL,
  CONTAINER,
  FINALIZER,
  INDEX_LABEL,
  JOB_UID_LABEL,
  ROLE_LABEL,
  TEMPLATE_ANNOTATION,
  WORKER,
  workloadName,
} from './names.ts'
export { claimNames } from './objects/claims.ts'
export { type GeneratedData, secretsToGenerate } from './objects/generated-secrets.ts'
export { needsLog } from './observe/failure.ts'
export { isMember, membershipOf } from './observe/membership.ts'
export type { GpuNode, NodeFacts, NodePlacement, TrainingObserved } from './observe/observed.ts'
export type { PlannedStatus } from './report/status.ts'
export { stuckClaims } from './observe/pending-claims.ts'
export { type Acceptance, acceptanceOf } from './steps/acceptance.ts'
export { type DeletionPlan, planDeletion } from './steps/deletion.ts'
export { needsLiveRead } from './steps/live-read.ts'
export type { TrainingPlan } from './steps/step.ts'
