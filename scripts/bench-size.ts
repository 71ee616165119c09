/**
 * Measures memory and CPU of the operator by the number of objects; see `bench/size-measure.ts`. Runs on a control plane of its own,
 * without scheduler and controller manager.
 */
import { startControlPlane } from '../testenv/control-plane.ts'
import { benchmarkArguments } from './bench/arguments.ts'
import { measureSizes, type SizeMeasurement } from './bench/size-measure.ts'

const HELP = `Usage: scripts/bench-size.ts [JOBS [MODELS [MINUTES]]]

Measures the memory of the operator, the CPU time of its start and its CPU use when idle, with completed jobs and running models of one
version, without pods. Sizes are 1 %, 10 %, 50 % and 100 %. The operator starts anew for each size.

  JOBS     completed jobs (10000)
  MODELS   running models (2000)
  MINUTES  end after this time, with the sizes that are done (10)`

const [jobs, models, minutes] = benchmarkArguments(HELP, [10_000, 2_000, 10])
const sizes = [0.01, 0.1, 0.5, 1].map((part) => ({ jobs: Math.ceil(part * jobs), models: Math.ceil(part * models) }))
const IDLE_MS = 20_000

function print({ size, writes, ...measured }: SizeMeasurement): void {
  const { residentMiB, peakMiB, heapMiB, startCpuSeconds, idleCpuPercent } = measured
  const memory = [residentMiB, peakMiB, heapMiB].map((value) => `${value.toFixed(0)} MiB`)
  const cells = [
    size.jobs,
    size.models,
    ...memory,
    `${startCpuSeconds.toFixed(1)} s`,
    `${idleCpuPercent.toFixed(1)} %`,
    writes,
  ]
  console.log(`| ${cells.join(' | ')} |`)
}

const plane = await startControlPlane()
const signal = AbortSignal.timeout(minutes * 60_000)
try {
  await Promise.all([plane.scheduler.stop(), plane.controllerManager.stop()])
  console.log('| jobs | models | RSS | peak RSS | heap | CPU of the start | CPU when idle | writes of the start |')
  console.log('| --- | --- | --- | --- | --- | --- | --- | --- |')
  await measureSizes(plane.kubeconfig, sizes, { idleMs: IDLE_MS, signal, done: print })
} catch (error) {
  if (!signal.aborted) throw error
  console.error(`ended after ${minutes} minutes, before the last size`)
  process.exitCode = 1
} finally {
  await plane.stop()
}
