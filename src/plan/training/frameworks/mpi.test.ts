/** The environment that Open MPI, Intel MPI and MPICH read, as their documentation says. */
import { test } from 'node:test'
import { assertEnvironment, type EnvironmentCase } from '../../../../test/fixtures/training-environment.ts'

const cases: readonly EnvironmentCase[] = [
  {
    name: 'mpi launcher: hostfile and ssh for Open MPI, Intel MPI and MPICH',
    spec: { framework: 'mpi', numWorkers: 2, gpusPerWorker: 4 },
    role: 'launcher',
    has: {
      K_MPI_JOB_ROLE: 'launcher',
      OMPI_MCA_orte_default_hostfile: '/etc/mpi/hostfile',
      OMPI_MCA_orte_keep_fqdn_hostnames: 'true',
      OMPI_MCA_orte_set_default_slots: '4',
      I_MPI_HYDRA_HOST_FILE: '/etc/mpi/hostfile',
      I_MPI_PERHOST: '4',
      HYDRA_HOST_FILE: '/etc/mpi/hostfile',
    },
    not: ['RANK'],
  },
  {
    name: 'mpi worker',
    spec: { framework: 'mpi', numWorkers: 2 },
    has: { K_MPI_JOB_ROLE: 'worker' },
    not: ['OMPI_MCA_plm_rsh_args'],
  },
]

for (const entry of cases) test(entry.name, () => assertEnvironment(entry))
