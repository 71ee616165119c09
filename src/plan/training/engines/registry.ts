/** The engines, by the name that a spec gives them. */
import type { TrainingJobSpec } from '../../../api/trainingjob.v1.ts'
import type { Engine } from './contract.ts'
import { job } from './job.ts'
import { pods } from './pods.ts'

export const engines: Readonly<Record<TrainingJobSpec['engine'], Engine>> = { pods, job }

export const engineOf = ({ engine }: TrainingJobSpec): Engine => engines[engine]
