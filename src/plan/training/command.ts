/**
 * What a pod runs: what the spec says or, where it says nothing, `/app/train.py` as the framework starts it. Rank 0 has to
 * listen before the others call it, which torch's launcher does not wait for; the wait needs bash and nothing else.
 */
import type { Role } from '../../api/training-roles.ts'
import type { TrainingJob, TrainingJobSpec } from '../../api/trainingjob.v1.ts'
import { rolesOf } from './attempt.ts'
import { KEYS_DIRECTORY, SSH_PORT } from './environment/mpi.ts'
import { WORKER } from './names.ts'

export interface Command {
  readonly command: readonly string[]
  readonly args?: readonly string[]
}

export function commandOf({ spec }: TrainingJob, role: string): Command {
  const own: Partial<Role> = rolesOf(spec).find(({ name }) => name === role) ?? {}
  if (spec.framework === 'mpi' && role === WORKER) return { command: SSH_DAEMON }
  const command = own.command ?? spec.command
  const args = own.command ? own.args : (own.args ?? spec.args)
  if (command) return { command, ...(args && { args }) }
  return { command: ['/bin/bash', '-c'], args: [script(spec), 'train', ...(args ?? [])] }
}

/** A daemon that a user without privileges can run. The pair of keys of the job is its host key as well. */
const SSH_DAEMON = [
  '/usr/sbin/sshd',
  '-D',
  '-e',
  `-p${SSH_PORT}`,
  `-h${KEYS_DIRECTORY}/ssh-privatekey`,
  `-oAuthorizedKeysFile=${KEYS_DIRECTORY}/ssh-publickey`,
  '-oStrictModes=no',
  '-oUsePAM=no',
  '-oPidFile=none',
]

function script(spec: TrainingJobSpec): string {
  const lines = [...starters[spec.framework], ...options(spec), '"$@"']
  return ['set -e', ...(spec.framework === 'pytorch' ? WAIT_FOR_MASTER : []), `exec ${lines.join(' \\\n  ')}`, ''].join(
    '\n',
  )
}

const PYTHON = ['python /app/train.py']

const starters: Readonly<Record<TrainingJobSpec['framework'], readonly string[]>> = {
  pytorch: [
    'python -m torch.distributed.launch',
    '--nproc_per_node=$PET_NPROC_PER_NODE',
    '--nnodes=$NUM_WORKERS',
    '--node_rank=$RANK',
    '--master_addr=$MASTER_ADDR',
    '--master_port=$MASTER_PORT',
    '/app/train.py',
  ],
  tensorflow: PYTHON,
  xgboost: PYTHON,
  jax: PYTHON,
  mpi: ['mpirun -np $((NUM_WORKERS * I_MPI_PERHOST))', ...PYTHON],
  custom: PYTHON,
}

const WAIT_FOR_MASTER = [
  'if [ "$RANK" != "0" ]; then',
  '  echo "Waiting for the master at $MASTER_ADDR:$MASTER_PORT"',
  '  until (exec 3<>"/dev/tcp/$MASTER_ADDR/$MASTER_PORT") 2>/dev/null; do sleep 1; done',
  'fi',
]

/** What is not set is not said: an empty option would be an error. */
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
