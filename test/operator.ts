/** The operator inside the test's own process, bound to one namespace, so that several can run side by side. */
import { createClient } from '../src/kube/client.ts'
import type { ClientConfig } from '../src/kube/config.ts'
import type { Interceptor } from '../src/kube/interceptor.ts'
import { addTrainingController, type TrainingOptions } from '../src/reconcile/training.ts'
import { createLogger, type LogLevel, Manager } from '../src/runtime/index.ts'

export interface OperatorOptions extends TrainingOptions {
  readonly cluster: ClientConfig
  /** Closest to the wire. */
  readonly interceptors?: readonly Interceptor[]
  readonly logLevel?: LogLevel
}

export interface Operator {
  readonly manager: Manager
  /** Resolves when nothing of it runs any more. Never rejects. */
  readonly ended: Promise<void>
  /** Aborts everything without waiting for it. */
  kill(): void
  stop(): Promise<void>
  /** How many reconciles have ended. */
  passes(): Promise<number>
}

/** A restart is immediate unless the test says otherwise, and there are no logs to read on a node that runs nothing. */
export function startOperator(options: OperatorOptions): Operator {
  const { cluster, interceptors = [], logLevel = 'silent', config, ...training } = options
  const manager = new Manager({
    name: 'ml-operator',
    connect: (own) => createClient(cluster, { interceptors: [...own, ...interceptors] }),
    log: createLogger({ level: logLevel }),
    shutdownMs: 0,
  })
  const readLog = (): Promise<undefined> => Promise.resolve(undefined)
  addTrainingController(manager, { readLog, ...training, config: { backoffMs: 0, ...config } })
  const stopping = new AbortController()
  const ended = manager.run(stopping.signal).catch(() => undefined)
  const kill = (): void => stopping.abort()
  const stop = async (): Promise<void> => {
    kill()
    await ended
  }
  return { manager, ended, kill, stop, passes: () => passesOf(manager) }
}

async function passesOf({ metrics: { registry } }: Manager): Promise<number> {
  const samples = (await registry.getSingleMetric('reconcile_duration_seconds')?.get())?.values ?? []
  const counts = samples.filter((sample) => 'metricName' in sample && String(sample.metricName).endsWith('_count'))
  return counts.reduce((sum, { value }) => sum + value, 0)
}
