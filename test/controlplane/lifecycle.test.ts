import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

import { startControlPlane } from '../../testenv/control-plane.ts'
import { processesOf } from '../../testenv/run-directory.ts'
import { until } from '../timing/until.ts'

const STARTER = join(import.meta.dirname, '../programs/start-control-plane.ts')

function leavesNothing(runDirectory: string): boolean {
  return !existsSync(runDirectory) && processesOf(runDirectory).length === 0
}

test('starts and stops ten times in a row', async (t) => {
  const times: number[] = []
  for (let round = 0; round < 10; round++) {
    const began = performance.now()
    const plane = await startControlPlane()
    times.push(performance.now() - began)
    await plane.stop()
    assert.ok(leavesNothing(plane.runDirectory))
  }
  const median = times.toSorted((a, b) => a - b)[times.length / 2] ?? 0
  t.diagnostic(`control plane ready: median ${(median / 1000).toFixed(1)} s of ${times.length} starts`)
})

test('two control planes run in parallel, isolated from each other', async (t) => {
  const planes = await Promise.all([startControlPlane(), startControlPlane()])
  t.after(() => Promise.all(planes.map((plane) => plane.stop())))
  const [one, two] = planes
  await one.kubectl('create', 'namespace', 'only-here')
  await assert.rejects(two.kubectl('get', 'namespace', 'only-here'), /NotFound/)
})

test('reports a component that exits, with the tail of its log', async (t) => {
  const exited = Promise.withResolvers<Error>()
  const plane = await startControlPlane({ onExit: exited.resolve })
  t.after(() => plane.stop())
  process.kill(plane.scheduler.pid, 'SIGKILL')
  assert.match(
    (await exited.promise).message,
    /kube-scheduler exited unexpectedly \(exit SIGKILL\)[^]*kube-scheduler\.log/,
  )
})

for (const signal of ['SIGKILL', 'SIGINT'] as const) {
  test(`leaves nothing behind when its parent process ends by ${signal}`, async () => {
    const child = spawn(process.execPath, [STARTER], { stdio: ['ignore', 'pipe', 'inherit'] })
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => void (output += chunk.toString()))
    const runDirectory = await until('the child to start a control plane', () => /ready (\S+)/.exec(output)?.[1])
    assert.ok(processesOf(runDirectory).length >= 4)
    child.kill(signal)
    await until('nothing to be left', () => leavesNothing(runDirectory))
  })
}
