/** The operator inside the test's process, for one namespace, so that several can run in parallel. */
import { createClient } from '../../src/kube/client.ts'
import type { ClientConfig } from '../../src/kube/config.ts'
import type { Interceptor } from '../../src/kube/interceptor.ts'
import type { KubeObject } from '../../src/kube/object.ts'
import { addTrainingController, type TrainingOptions } from '../../src/reconcile/training.ts'
import {
  type BackoffPolicy,
  type Clock,
  createLogger,
  type LeaderElection,
  type LogLevel,
  Manager,
} from '../../src/runtime/index.ts'
import { isDecoy } from '../crash/faults/decoys.ts'
import { recordingInterceptor } from '../client/recorded-calls.ts'

export interface ProgramOptions {
  readonly cluster: ClientConfig
  /** The interceptors closest to the wire. */
  readonly interceptors?: readonly Interceptor[]
  readonly logLevel?: LogLevel
  readonly clock?: Clock
  readonly backoff?: BackoffPolicy
  /** Default: no leader election. */
  readonly leaderElection?: LeaderElection
}

export interface OperatorOptions extends ProgramOptions, TrainingOptions {}

export interface Operator {
  readonly manager: Manager
  /** Resolves when it has stopped completely. Never rejects. */
  readonly ended: Promise<void>
  /** Aborts everything without waiting for it. */
  kill(): void
  stop(): Promise<void>
  /** Whether it may write now. */
  isLeading(): boolean
  /** Whether its caches hold exactly these objects, in these resourceVersions. */
  hasSeen(objects: readonly KubeObject[]): boolean
  /** How many reconciles have ended. */
  passes(): Promise<number>
}

/** Starts the training controller. Restarts and changes of size are not delayed by default, and fake nodes have no logs. */
export function startOperator(options: OperatorOptions): Operator {
  const { config, readLog = noLog, ...training } = options
  return startProgram(options, (manager) => {
    addTrainingController(manager, { readLog, ...training, config: { backoffMs: 0, resizeIntervalMs: 0, ...config } })
  })
}

const noLog = (): Promise<undefined> => Promise.resolve(undefined)

/** Starts a manager with the added controllers. */
export function startProgram(options: ProgramOptions, addControllers: (manager: Manager) => void): Operator {
  const { cluster, interceptors = [], logLevel = 'silent', clock, backoff, leaderElection } = options
  const manager = new Manager({
    name: 'ml-operator',
    connect: (own) => createClient(cluster, { interceptors: [...own, ...interceptors, recordingInterceptor] }),
    log: createLogger({ level: logLevel }),
    shutdownMs: 0,
    ...(clock && { clock }),
    ...(backoff && { backoff }),
    ...(leaderElection && { leaderElection }),
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
    isLeading: () => manager.isLeading,
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
    .filter((object) => !isDecoy(object))
  const known = new Set(held.map(version))
  return held.length === objects.length && objects.every((object) => known.has(version(object)))
}

async function passesOf({ metrics: { registry } }: Manager): Promise<number> {
  const samples = (await registry.getSingleMetric('reconcile_duration_seconds')?.get())?.values ?? []
  const counts = samples.filter((sample) => 'metricName' in sample && String(sample.metricName).endsWith('_count'))
  return counts.reduce((sum, { value }) => sum + value, 0)
}
