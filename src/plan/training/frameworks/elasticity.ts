/** Whether a gang continues without some of its pods. */
import type { TrainingJobSpec } from '../../../api/trainingjob.v1.ts'
import type { Replica } from '../observe/attempt.ts'
import { frameworkOf } from './registry.ts'

/** Whether the job trains with the workers that it has, until the others are there. */
export const isElastic = (spec: TrainingJobSpec): boolean => frameworkOf(spec).elasticity?.isEnabled(spec) ?? false

/** Whether this pod can be replaced alone, without a restart of the gang. */
export const canReplaceAlone = (spec: TrainingJobSpec, replica: Replica): boolean =>
  isElastic(spec) && !frameworkOf(spec).elasticity?.isEssential(replica)
