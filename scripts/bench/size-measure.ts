/** Measures an operator that starts with many objects at rest: memory, CPU time of the start, and CPU use when idle. */
import { setTimeout as delay } from 'node:timers/promises'
import { createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import { installApi } from '../../test/cluster/api.ts'
import { type OperatorProcess, startOperatorProcess } from '../../test/operator/operator-process.ts'
import { until } from '../../test/timing/until.ts'
import { startDeploymentDriver } from './deployment-driver.ts'
import { startEndpointsDriver } from './endpoints-driver.ts'
import { callsOf } from './operator-calls.ts'
import { usageOf } from './process-usage.ts'
import { type Size, SizeLoad } from './size-load.ts'

export interface SizeMeasurement {
  readonly size: Size
  /** At rest, after scrapes of /metrics. */
  readonly residentMiB: number
  readonly peakMiB: number
  readonly heapMiB: number
  readonly startCpuSeconds: number
  /** Of one core. */
  readonly idleCpuPercent: number
  /** Of the start: objects that are as they should be need none. */
  readonly writes: number
}

const FLAGS = ['--no-webhook', '--no-leader-elect', '--log-level=warn']
/** A scrape of many objects costs CPU time too, so there are few. */
const POLL_MS = 5_000

/** Measures each size in turn; the objects of one are part of the next. Ends early, with the sizes that are done, on `signal`. */
export async function measureSizes(
  kubeconfig: string,
  sizes: readonly Size[],
  { idleMs, signal, done }: { idleMs: number; signal: AbortSignal; done: (measured: SizeMeasurement) => void },
): Promise<void> {
  const cluster = await configFromKubeconfig(kubeconfig)
  const client = createClient(cluster)
  await installApi(client)
  await client.close()
  const drivers = [startDeploymentDriver(cluster), startEndpointsDriver(cluster)]
  const load = new SizeLoad(cluster)
  let operator = await startOperatorProcess(kubeconfig, FLAGS)
  try {
    for (const size of sizes) {
      await load.growTo(size, signal)
      await atRest(operator, size, signal)
      await operator.stop()
      operator = await startOperatorProcess(kubeconfig, FLAGS)
      done(await measured(operator, size, { idleMs, signal }))
    }
  } finally {
    await operator.stop()
    await load.close()
    await Promise.all(drivers.map((driver) => driver.stop()))
  }
}

async function measured(
  operator: OperatorProcess,
  size: Size,
  { idleMs, signal }: { idleMs: number; signal: AbortSignal },
): Promise<SizeMeasurement> {
  const writes = await atRest(operator, size, signal)
  const started = usageOf(operator.pid)
  await delay(idleMs, undefined, { signal })
  const { cpuSeconds, residentMiB, peakMiB } = usageOf(operator.pid)
  const idleCpuPercent = (100_000 * (cpuSeconds - started.cpuSeconds)) / idleMs
  const heapMiB = await heapOf(operator)
  return { size, residentMiB, peakMiB, heapMiB, startCpuSeconds: started.cpuSeconds, idleCpuPercent, writes }
}

/** Waits until every object was reconciled and no more are. Returns the writes since the start. */
async function atRest(operator: OperatorProcess, { jobs, models }: Size, signal: AbortSignal): Promise<number> {
  let before = { passes: 0, writes: 0 }
  for (;;) {
    await delay(POLL_MS, undefined, { signal })
    if (!operator.isRunning()) throw new Error(`the operator ended: ${operator.log().slice(-2_000)}`)
    // On a busy machine a scrape can take too long.
    const now = await callsOf(operator).catch(() => undefined)
    const isQuiet = now !== undefined && now.writes === before.writes && now.passes === before.passes
    if (isQuiet && now.passes >= jobs + models) return now.writes
    before = now ?? before
  }
}

async function heapOf({ url }: OperatorProcess): Promise<number> {
  const page = await until('a scrape', async () => (await fetch(`${url}/metrics`)).text())
  return Number(/^nodejs_heap_size_used_bytes (\S+)/m.exec(page)?.[1]) / 2 ** 20
}
