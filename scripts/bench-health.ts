/**
 * Measures what the health checks of pods cost the operator. All pods are one HTTP server on the loopback, in a thread of its own:
 * only the CPU time of the thread with the checks counts.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { fileURLToPath } from 'node:url'
import { HealthChecks, type HealthTarget } from '../src/integrations/health-checks.ts'
import { systemClock } from '../src/runtime/index.ts'
import { benchmarkArguments } from './bench/arguments.ts'

const HELP = `Usage: scripts/bench-health.ts [PODS [SECONDS [ROUNDS]]]

Measures the CPU time of health checks of pods.

  PODS     followed pods, in models of ten pods each (5000)
  SECONDS  interval of the checks (30)
  ROUNDS   intervals to measure (2)`

function serveHealth(): void {
  const server = createServer((_, response) => response.end('{"status":"ok"}'))
  server.listen(0, '127.0.0.1', () => reportPort((server.address() as AddressInfo).port))
}

function reportPort(port: number): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- the port of a thread has no origin
  parentPort?.postMessage(port)
}

const POD_COUNT = 10

/** CPU time of this thread in milliseconds. */
function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

async function measure([pods, seconds, rounds]: readonly [number, number, number]): Promise<void> {
  const server = new Worker(fileURLToPath(import.meta.url))
  const port = await new Promise<number>((resolve) => server.once('message', resolve))
  const checks = new HealthChecks({ clock: systemClock, accepts: () => true })
  const target = (index: number): HealthTarget => ({
    uid: String(index),
    address: '127.0.0.1',
    port,
    path: '/health',
    timeoutMs: 5_000,
    intervalMs: seconds * 1_000,
    threshold: 3,
  })
  for (let first = 0; first < pods; first += POD_COUNT) {
    const own = Array.from({ length: Math.min(POD_COUNT, pods - first) }, (_, index) => target(first + index))
    checks.follow('bench', { namespace: 'bench', name: `model-${first}` }, own)
  }
  console.log(`${pods} pods every ${seconds} s`)
  console.log('| interval | checks | not passed | CPU of a core | CPU per check | event loop p99 | RSS |')
  console.log('| --- | --- | --- | --- | --- | --- | --- |')
  for (let round = 0; round <= rounds; round += 1) await measureRound(checks, round, seconds)
  checks.close()
  await server.terminate()
}

/** Round 0 warms up the code. */
async function measureRound(checks: HealthChecks, round: number, seconds: number): Promise<void> {
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  const before = { ...checks.counts }
  const cpu = threadCpuMs()
  const began = performance.now()
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000))
  const spent = threadCpuMs() - cpu
  const took = performance.now() - began
  const passed = checks.counts.passed - before.passed
  const others = checks.counts.failed + checks.counts.unreachable - before.failed - before.unreachable
  const cells = [
    round === 0 ? 'first' : round,
    passed + others,
    others,
    `${((spent / took) * 100).toFixed(1)} %`,
    `${((spent / Math.max(1, passed + others)) * 1_000).toFixed(0)} µs`,
    `${(delay.percentile(99) / 1e6).toFixed(1)} ms`,
    `${(process.memoryUsage().rss / 2 ** 20).toFixed(0)} MiB`,
  ]
  console.log(`| ${cells.join(' | ')} |`)
}

if (isMainThread) await measure(benchmarkArguments(HELP, [5_000, 30, 2]))
else serveHealth()
