/** Hyperparameters as environment variables: each as `HYPERPARAM_<NAME>`, and all of them as JSON. */
import type { TrainingJobSpec } from '../../../api/trainingjob.v1.ts'
import { literal, type Variable, variable } from '../../pod/variable.ts'

export function hyperparameterVariables({ hyperparameters }: TrainingJobSpec): Variable[] {
  if (hyperparameters === undefined) return []
  const each = Object.entries(hyperparameters).flatMap(([name, value]) =>
    variable(`HYPERPARAM_${name.toUpperCase().replaceAll(/[^A-Z0-9_]/g, '_')}`, literal(textOf(value))),
  )
  return [...each, ...variable('HYPERPARAMETERS', literal(JSON.stringify(hyperparameters)))]
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value ?? null))
