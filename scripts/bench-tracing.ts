/**
 * The cost of tracing on the hot path of a reconcile: time per reconcile of a controller whose reconciler makes one call, with
 * traces off and on. The calls are answered at once, and traces are sent to an address where nothing listens.
 */
import { intercepted, type Call, type Interceptor } from '../src/kube/interceptor.ts'
import { ConfigMap } from '../src/kube/resources.ts'
import { otlpTracing } from '../src/operator-tracing.ts'
import {
  type Cache,
  Caches,
  Controller,
  createLogger,
  RuntimeMetrics,
  systemClock,
  type Tracing,
  WorkQueue,
} from '../src/runtime/index.ts'
import { LineBudget } from '../src/runtime/line-budget.ts'
import { WriteLog } from '../src/runtime/write-log.ts'
import type { Client } from '../src/kube/client.ts'
import { benchmarkArguments } from './bench/arguments.ts'
import { median } from './bench/median.ts'

const HELP = `Usage: scripts/bench-tracing.ts [ROUNDS] [RECONCILES]

Prints the time per reconcile with traces off and on: the median of ROUNDS (default 7), each with RECONCILES (default 20000).`

const [ROUNDS, RECONCILES] = benchmarkArguments(HELP, [7, 20_000])

const call: Call = {
  verb: 'get',
  method: 'GET',
  path: '/',
  resource: ConfigMap,
  stream: false,
  attempt: 1,
  timeoutMs: 1_000,
}

/** Microseconds per reconcile. */
async function round(tracing: Tracing | undefined): Promise<number> {
  const clock = systemClock
  const log = createLogger({ level: 'silent' })
  const metrics = new RuntimeMetrics(clock)
  const client = {} as Client
  const caches = new Caches({ client, log, metrics })
  const primary = caches.of(ConfigMap) as unknown as Cache
  const interceptors: Interceptor[] = [...(tracing ? [tracing.interceptor] : []), metrics.interceptor]
  const send = intercepted(interceptors, async () => ({ status: 200, headers: {}, body: '' }))
  const queue = new WorkQueue({ clock, backoff: { baseMs: 1, factor: 2, maxMs: 1, jitter: 0 } })
  const done = Promise.withResolvers<void>()
  let left = RECONCILES
  const reconciler = async (): Promise<void> => {
    await send(call)
    left -= 1
    if (left === 0) done.resolve()
  }
  const lines = new LineBudget({ clock })
  const writes = new WriteLog(caches, clock)
  const deps = { name: 'bench', reconciler, primary, queue, writes, client, clock, log, metrics, lines, tracing }
  const controller = new Controller(deps)
  for (let index = 0; index < RECONCILES; index++) queue.add({ namespace: `ns-${index % 100}`, name: `x-${index}` })
  const began = performance.now()
  controller.start()
  await done.promise
  const micros = ((performance.now() - began) * 1_000) / RECONCILES
  await controller.stop(0)
  return micros
}

const tracing = otlpTracing({ endpoint: 'http://127.0.0.1:1/v1/traces', percent: 100 })
const off: number[] = []
const on: number[] = []
await round(undefined)
for (let index = 0; index < ROUNDS; index++) {
  off.push(await round(undefined))
  on.push(await round(tracing))
}
await tracing.close()
process.stdout.write(`traces off: ${median(off).toFixed(1)} µs per reconcile\n`)
process.stdout.write(`traces on:  ${median(on).toFixed(1)} µs per reconcile\n`)
