/** The frameworks, by the name that a spec gives them. A name of the API without an entry here does not compile. */
import type { TrainingJobSpec } from '../../../api/trainingjob.v1.ts'
import type { Framework } from './contract.ts'
import { custom } from './custom.ts'
import { jax } from './jax.ts'
import { mpi } from './mpi.ts'
import { pytorch } from './pytorch.ts'
import { tensorflow } from './tensorflow.ts'
import { xgboost } from './xgboost.ts'

export type FrameworkName = TrainingJobSpec['framework']

export const frameworks: Readonly<Record<FrameworkName, Framework>> = {
  pytorch,
  tensorflow,
  xgboost,
  jax,
  mpi,
  custom,
}

export const frameworkOf = ({ framework }: Pick<TrainingJobSpec, 'framework'>): Framework => frameworks[framework]
