/** The environment that Open MPI, Intel MPI and MPICH read, as their documentation says, and that of their processes. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { assertEnvironment, type EnvironmentCase } from '../../../../test/fixtures/training-environment.ts'
import { mpi } from './mpi.ts'

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

test('a process that ssh starts has the environment of its pod, but not its rank', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'mpi-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const [shell = '', option = '', script = ''] = mpi.workerCommand ?? []
  // Prints the options instead of starting sshd.
  const here = script.replaceAll('/dev/shm', directory).replace('exec /usr/sbin/sshd', String.raw`printf '%s\n'`)
  const pod = { RANK: '1', WORLD_SIZE: '2', ODD: `it's "a" $HOME\nof two lines`, PATH: process.env['PATH'] ?? '' }
  const options = execFileSync(shell, [option, here], { env: pod, encoding: 'utf8' }).split('\n')
  const forced = options.find((line) => line.startsWith('-oForceCommand='))?.slice('-oForceCommand='.length) ?? ''
  const original = 'echo "rank [$RANK] of [$WORLD_SIZE], $ODD"'
  const seen = execFileSync(shell, ['-c', forced], { env: { SSH_ORIGINAL_COMMAND: original }, encoding: 'utf8' })
  assert.equal(seen, `rank [] of [], ${pod.ODD}\n`)
})
