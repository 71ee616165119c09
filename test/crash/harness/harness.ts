import { createClient } from '../../../src/kube/client.ts'
import { type ClientConfig, configFromKubeconfig } from '../../../src/kube/config.ts'
import type { Interceptor } from '../../../src/kube/interceptor.ts'
import type { ObjectKey } from '../../../src/kube/object.ts'
import { Namespace } from '../../../src/kube/resources.ts'
import { installApi } from '../../cluster/api.ts'
import type { BackoffPolicy, Clock, LeaderElection } from '../../../src/runtime/index.ts'
import { fakeNode } from '../../fakes/kubelet.ts'
import { Semaphore } from '../../timing/semaphore.ts'
import type { LaunchOptions, RunningOperator } from './operator-replicas.ts'
import type { Harness } from './plan-run.ts'
import { SharedWatches } from './shared-watches.ts'

/** How to start one run of the operator. */
export interface ProgramOptions {
  readonly cluster: ClientConfig
  /** The only namespace that it serves. */
  readonly namespace: string
  readonly interceptors: readonly Interceptor[]
  readonly resyncMs: number
  readonly concurrency: number
  readonly backoff: BackoffPolicy
  readonly clock?: Clock
  readonly leaderElection?: LeaderElection
}

export interface HarnessOptions {
  readonly parallel: number
  /** The cluster is removed afterwards, so nothing is cleaned up: that would take longer than the plans. */
  readonly isDisposable?: boolean
  /** How long to wait for convergence after the scenario. Default: one minute. */
  readonly patienceMs?: number
  /** How long each step of a scenario may take. Catches hangs; not a performance bound. */
  readonly stepPatienceMs?: number
  /** Starts the operator under test. */
  readonly start: (options: ProgramOptions) => RunningOperator
}

/** Every object is reconciled this often, so that three passes without a write show convergence. */
const RESYNC_MS = 150
const PATIENCE_MS = 60_000

/** Candidates retry often. The lease is long, so that a slow machine does not lose it. */
const ELECTION = { durationMs: 30_000, renewDeadlineMs: 25_000, retryMs: 400 }

/** A plan has up to thirty failures in a row; with the default backoff that would take an hour. */
const BACKOFF = { baseMs: 10, factor: 2, maxMs: 200, jitter: 0.5 }

/** Prepares the cluster of a kubeconfig for a campaign. */
export async function openHarness(
  kubeconfig: string,
  { parallel, patienceMs = PATIENCE_MS, stepPatienceMs, isDisposable = false, start }: HarnessOptions,
): Promise<Harness & { close(): Promise<void> }> {
  const cluster = await configFromKubeconfig(kubeconfig)
  const client = createClient(cluster)
  await installApi(client)
  const node = await fakeNode(client)
  const namespaces = new Set<string>()
  const watches = new SharedWatches(client)
  return {
    client,
    namespaces,
    watches,
    patienceMs,
    ...(stepPatienceMs !== undefined && { stepPatienceMs }),
    slots: new Semaphore(parallel),
    node: node.name,
    program: (namespace) => (interceptor, options) =>
      start({
        cluster,
        namespace,
        interceptors: [interceptor],
        resyncMs: options?.resyncMs ?? RESYNC_MS,
        concurrency: 1,
        backoff: BACKOFF,
        ...runtimeOptions(namespace, options),
      }),
    close: async () => {
      await watches.stop()
      if (isDisposable) return
      for (const name of namespaces) await client.delete(Namespace, { name })
      await node.remove()
      await client.close()
    },
  }
}

/** The Lease of the leader election in a plan's namespace. */
export const leaseIn = (namespace: string): Required<ObjectKey> => ({ namespace, name: 'operator' })

function runtimeOptions(
  namespace: string,
  { clock, identity }: LaunchOptions = {},
): Pick<ProgramOptions, 'clock' | 'leaderElection'> {
  const lease = leaseIn(namespace)
  return {
    ...(clock && { clock }),
    ...(identity !== undefined && { leaderElection: { lease, identity, ...ELECTION } }),
  }
}
