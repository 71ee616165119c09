/** The operator inside the test's own process, bound to one namespace, so that several can run side by side. */
import { createClient } from '../src/kube/client.ts'
import type { ClientConfig } from '../src/kube/config.ts'
import type { Interceptor } from '../src/kube/interceptor.ts'
import type { KubeObject } from '../src/kube/object.ts'
import { addTrainingController, type TrainingOptions } from '../src/reconcile/training.ts'
import { createLogger, type LogLevel, Manager } from '../src/runtime/index.ts'
import { recordingInterceptor } from './recorded-calls.ts'

export interface ProgramOptions {
  readonly cluster: ClientConfig
  /** Closest to the wire. */
  readonly interceptors?: readonly Interceptor[]
  readonly logLevel?: LogLevel
}

export interface OperatorOptions extends ProgramOptions, TrainingOptions {}

export interface Operator {
  readonly manager: Manager
  /** Resolves when nothing of it runs any more. Never rejects. */
  readonly ended: Promise<void>
  /** Aborts everything without waiting for it. */
  kill(): void
  stop(): Promise<void>
  /** Whether its caches hold these objects, in these versions, and of their namespace nothing else. */
  hasSeen(objects: readonly KubeObject[]): boolean
  /** How many reconciles have ended. */
  passes(): Promise<number>
}

/** A restart is immediate unless the test says otherwise, and there are no logs to read on a node that runs nothing. */
export function startOperator(options: OperatorOptions): Operator {
  const { config, readLog = nothing, ...training } = options
  return startProgram(options, (manager) => {
    addTrainingController(manager, { readLog, ...training, config: { backoffMs: 0, ...config } })
  })
}

const nothing = (): Promise<undefined> => Promise.resolve(undefined)

/** Runs whatever controllers are added. */
export function startProgram(options: ProgramOptions, addControllers: (manager: Manager) => void): Operator {
  const { cluster, interceptors = [], logLevel = 'silent' } = options
  const manager = new Manager({
    name: 'ml-operator',
    connect: (own) => createClient(cluster, { interceptors: [...own, ...interceptors, recordingInterceptor] }),
    log: createLogger({ level: logLevel }),
    shutdownMs: 0,
  })
  addControllers(manager)
  const stopping = new AbortController()
  const ended = manager.run(stopping.signal).catch(() => undefined)
  const kill = (): void => stopping.abort()
  const stop = async (): Promise<void> => {
    kill()
    await ended
  }
  return {
    manager,
    ended,
    kill,
    stop,
    hasSeen: (objects) => hasSeen(manager, objects),
    passes: () => passesOf(manager),
  }
}

function hasSeen({ caches }: Manager, objects: readonly KubeObject[]): boolean {
  const version = ({ metadata }: KubeObject): string => `${metadata.uid} ${metadata.resourceVersion}`
  const held = caches
    .all()
    .filter(({ resource }) => resource.namespaced)
    .flatMap((cache) => cache.list())
  const known = new Set(held.map(version))
  return held.length === objects.length && objects.every((object) => known.has(version(object)))
}

async function passesOf({ metrics: { registry } }: Manager): Promise<number> {
  const samples = (await registry.getSingleMetric('reconcile_duration_seconds')?.get())?.values ?? []
  const counts = samples.filter((sample) => 'metricName' in sample && String(sample.metricName).endsWith('_count'))
  return counts.reduce((sum, { value }) => sum + value, 0)
}
