/** A cluster leaves nothing on the machine. Compares the whole machine, so nothing else may start or stop containers meanwhile. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { test, type TestContext } from 'node:test'
import { isDeepStrictEqual } from 'node:util'

import { cacheDirectory } from '../../testenv/cache-directory.ts'
import { startCluster } from '../../testenv/cluster.ts'
import { runCommand } from '../../testenv/command.ts'
import { processesOf } from '../../testenv/run-directory.ts'
import { type MachineState, machineState } from '../cluster/machine-state.ts'
import { until } from '../timing/until.ts'

const ROOT = resolve(import.meta.dirname, '../..')

/** Waits, because the kernel removes namespaces and links shortly after their last process. */
async function assertRestored(before: MachineState): Promise<void> {
  try {
    await until('the machine to be as before', () => isDeepStrictEqual(machineState(), before), 30_000)
  } catch {
    assert.deepEqual(machineState(), before)
  }
}

/** A cache with the same binaries, but its own registry of clusters: the developer's cluster is not touched. */
function ownRegistry(t: TestContext): Record<string, string | undefined> {
  const home = mkdtempSync(join(tmpdir(), 'registry-'))
  t.after(() => rmSync(home, { recursive: true }))
  mkdirSync(join(home, 'ml-operator'))
  for (const part of ['bin', 'images', 'layers']) symlinkSync(cacheDirectory(part), join(home, 'ml-operator', part))
  return { ...process.env, XDG_CACHE_HOME: home }
}

test('stop() restores the machine, pods and volumes included', async () => {
  const before = machineState()
  const cluster = await startCluster()
  const { kubectl } = cluster.plane
  await kubectl('create', 'deployment', 'idle', '--image=testenv/pause:1', '--replicas=2')
  await kubectl('rollout', 'status', 'deployment/idle', '--timeout=60s')
  assert.notDeepEqual(machineState(), before)
  await cluster.stop()
  await assertRestored(before)
})

test('`make cluster-down` removes everything after the starting process was killed', async (t) => {
  const env = ownRegistry(t)
  const before = machineState()
  const clusters = join(String(env['XDG_CACHE_HOME']), 'ml-operator', 'clusters')
  const starter = spawn('make', ['cluster'], { cwd: ROOT, env, stdio: 'ignore', detached: true })
  const runDirectory = await until('a run to be registered', () =>
    join(tmpdir(), readdirSync(clusters)[0] ?? assert.fail()),
  )
  await until('the kubelet to start', () => processesOf(runDirectory).length >= 7)
  process.kill(-(starter.pid ?? assert.fail()), 'SIGKILL')
  assert.match(await runCommand(['make', '-C', ROOT, 'cluster-down'], { env }), /Removed 1 cluster/)
  await assertRestored(before)
  assert.match(await runCommand(['make', '-C', ROOT, 'cluster-down'], { env }), /No cluster is running/)
})

test('a cluster outlives `make cluster`, is found again, and ends with `make cluster-down`', async (t) => {
  const env = ownRegistry(t)
  const before = machineState()
  const up = await runCommand(['make', '-C', ROOT, 'cluster'], { env })
  const [, kubeconfig, kubectl] = /KUBECONFIG=(\S+)\s+alias kubectl=(\S+)/.exec(up) ?? []
  assert.match(
    await runCommand([String(kubectl), '--kubeconfig', String(kubeconfig), 'get', 'nodes']),
    /testenv-node\s+Ready/,
  )
  assert.match(await runCommand(['make', '-C', ROOT, 'cluster'], { env }), /A cluster is running already/)
  await runCommand(['make', '-C', ROOT, 'cluster-down'], { env })
  await assertRestored(before)
})
