/**
 * MPI: the launcher reaches the workers by SSH, as a user without privileges, at a port that such a user may open. Open
 * MPI, Intel MPI and MPICH each have their own names for the hostfile and the options of ssh.
 */
import { procsPerWorker } from '../attempt.ts'
import type { Environment } from './placement.ts'
import { variable } from './variable.ts'

export const HOSTFILE_DIRECTORY = '/etc/mpi'
export const HOSTFILE = `${HOSTFILE_DIRECTORY}/hostfile`
export const KEYS_DIRECTORY = '/etc/mpi-ssh'
export const SSH_PORT = 2222

/** Workers appear and vanish with every attempt and all have the one key of the job, so there is no host to know. */
const SSH_OPTIONS = [
  `-p ${SSH_PORT}`,
  `-i ${KEYS_DIRECTORY}/ssh-privatekey`,
  '-o StrictHostKeyChecking=no',
  '-o UserKnownHostsFile=/dev/null',
  '-o LogLevel=ERROR',
  '-o ConnectionAttempts=10',
].join(' ')

export const mpi: Environment = ({ job, role }) => {
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
