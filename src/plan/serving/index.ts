/** Serving: the only module that other folders import. */
export { defaultServingConfig, type ServingConfig, servingConfigProblem } from './config.ts'
export type { Model, ServingObserved } from './observe/observed.ts'
export { planServing } from './plan.ts'
export { planServingRejection } from './report/stuck.ts'
export { servingImages } from './runtimes/images.ts'
export { runtimeNameOf } from './runtimes/runtime.ts'
export type { PlannedServingStatus, ServingPlan } from './serving-plan.ts'
