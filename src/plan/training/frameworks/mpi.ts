/**
 * MPI: the launcher reaches the workers by SSH, as a user without privileges, at a port that such a user may open. Open
 * MPI, Intel MPI and MPICH each have their own names for the hostfile and the options of ssh.
 */
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import { type Variable, variable } from '../../pod/variable.ts'
import { podName, serviceName, WORKER } from '../names.ts'
import { type Attempt, procsPerWorker } from '../observe/attempt.ts'
import { DEFAULT_IMAGE, type Framework, PYTHON_SCRIPT } from './contract.ts'
import type { PodIdentity } from './pod-identity.ts'

const HOSTFILE = '/etc/mpi/hostfile'
const KEYS_DIRECTORY = '/etc/mpi-ssh'
const SSH_PORT = 2222

/** sshd as a user without privileges. The key pair of the job is its host key as well. */
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

/** In memory, because it may have the values of Secrets. */
const ENVIRONMENT = '/dev/shm/.environment'

/** What sshd runs for every session. The rank and the number of processes are those of MPI, not of the pod. */
const SESSION = `. ${ENVIRONMENT}; unset RANK WORLD_SIZE; eval "$SSH_ORIGINAL_COMMAND"`

/** sshd starts sessions with an empty environment, but training code needs that of its pod. */
const WORKER_SCRIPT = [
  `(umask 077; export -p >${ENVIRONMENT})`,
  `exec ${SSH_DAEMON.join(' ')} '-oForceCommand=${SESSION}'`,
  '',
].join('\n')

/** Hosts change with every attempt and all have the key of the job, so there are no known hosts to check. */
const SSH_OPTIONS = [
  `-p ${SSH_PORT}`,
  `-i ${KEYS_DIRECTORY}/ssh-privatekey`,
  '-o StrictHostKeyChecking=no',
  '-o UserKnownHostsFile=/dev/null',
  '-o LogLevel=ERROR',
  '-o ConnectionAttempts=10',
].join(' ')

export const mpi: Framework = {
  defaultImage: DEFAULT_IMAGE,
  launch: { command: ['mpirun -np $((NUM_WORKERS * I_MPI_PERHOST))', ...PYTHON_SCRIPT] },
  workerCommand: ['/bin/sh', '-c', WORKER_SCRIPT],
  environment,
  // The launcher calls the workers as soon as it starts.
  roles: { launcher: { isImplied: true, decidesSuccess: true, startsAfterWorkers: true } },
  files: [{ key: 'hostfile', mountPath: HOSTFILE, content: hostfile }],
  secrets: [
    {
      generator: 'sshKeyPair',
      name: ({ metadata }) => `${metadata.name}-ssh-${metadata.uid?.slice(0, 8)}`,
      type: 'kubernetes.io/ssh-auth',
      volumeName: 'ssh',
      mountPath: KEYS_DIRECTORY,
    },
  ],
}

function hostfile(job: TrainingJob, { worldSize }: Attempt): string {
  const slots = procsPerWorker(job.spec)
  const line = (index: number): string => `${podName(job, WORKER, index)}.${serviceName(job)} slots=${slots}\n`
  return Array.from({ length: worldSize }, (_, index) => line(index)).join('')
}

function environment({ job, role }: PodIdentity): Variable[] {
  if (role !== 'launcher') return variable('K_MPI_JOB_ROLE', 'worker')
  const slots = procsPerWorker(job.spec)
  return [
    ...variable('K_MPI_JOB_ROLE', 'launcher'),
    ...variable('OMPI_MCA_orte_default_hostfile', HOSTFILE),
    ...variable('OMPI_MCA_orte_keep_fqdn_hostnames', 'true'),
    ...variable('OMPI_MCA_orte_set_default_slots', slots),
    ...variable('OMPI_MCA_plm_rsh_args', SSH_OPTIONS),
    ...variable('PRTE_MCA_prte_default_hostfile', HOSTFILE),
    ...variable('PRTE_MCA_plm_ssh_args', SSH_OPTIONS),
    ...variable('I_MPI_HYDRA_HOST_FILE', HOSTFILE),
    ...variable('I_MPI_PERHOST', slots),
    ...variable('I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS', SSH_OPTIONS),
    ...variable('HYDRA_HOST_FILE', HOSTFILE),
    ...variable('HYDRA_LAUNCH_EXTRA_ARGS', SSH_OPTIONS),
  ]
}
