/** The command of a pod: that of the spec or, if it has none, `/app/train.py` as the framework starts it. */
import type { Role } from '../../../api/training-roles.ts'
import type { TrainingJob, TrainingJobSpec } from '../../../api/trainingjob.v1.ts'
import { frameworkOf } from '../frameworks/registry.ts'
import { rolesOf } from '../frameworks/roles.ts'
import { WORKER } from '../names.ts'

export interface Command {
  readonly command: readonly string[]
  readonly args?: readonly string[]
}

export function commandOf({ spec }: TrainingJob, role: string): Command {
  const { workerCommand } = frameworkOf(spec)
  if (workerCommand && role === WORKER) return { command: workerCommand }
  const own: Partial<Role> = rolesOf(spec).find(({ name }) => name === role) ?? {}
  const command = own.command ?? spec.command
  const args = own.command ? own.args : (own.args ?? spec.args)
  if (command) return { command, ...(args && { args }) }
  return { command: ['/bin/bash', '-c'], args: [launchScript(spec), 'train', ...(args ?? [])] }
}

function launchScript(spec: TrainingJobSpec): string {
  const { setup = [], command } = frameworkOf(spec).launch
  const parts = [...command, ...options(spec), '"$@"']
  return ['set -e', ...setup, `exec ${parts.join(' \\\n  ')}`, ''].join('\n')
}

/** An option is omitted when its variable is not set: an empty option would be an error. */
function options(spec: TrainingJobSpec): string[] {
  const option = (name: string, variable: string): string => `\${${variable}:+--${name}="$${variable}"}`
  return [
    option('model', 'MODEL'),
    option('dataset', 'DATASET'),
    option('learning-rate', 'HYPERPARAM_LEARNINGRATE'),
    option('batch-size', 'HYPERPARAM_BATCHSIZE'),
    option('epochs', 'HYPERPARAM_EPOCHS'),
    ...(spec.checkpoint.enabled ? ['--checkpoint-dir="$CHECKPOINT_DIR"'] : []),
  ]
}
