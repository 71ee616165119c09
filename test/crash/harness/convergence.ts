/** Convergence: nothing changes any more, and an operator that is restarted then writes nothing. */
import type { Client } from '../../../src/kube/client.ts'
import type { KubeObject, Resource } from '../../../src/kube/object.ts'
import { until } from '../../timing/until.ts'
import type { Launch, OperatorReplicas, RunningOperator } from './operator-replicas.ts'
import type { Scenario, WaitUntil } from '../scenarios/scenario.ts'
import { FaultInjector } from '../faults/fault-injector.ts'
import { type Observer, ROOT_CA } from '../oracles/observer.ts'
import type { ClusterView } from '../oracles/oracle.ts'

const QUIET_PASSES = 3

interface Converging {
  readonly replicas: OperatorReplicas
  readonly injector: FaultInjector
  readonly scenario: Scenario
  readonly observer: Observer
}

/** Waits for three passes in a row without a write, each with caches that are up to date. */
export async function waitUntilConverged(
  { replicas, injector, scenario, observer }: Converging,
  waitUntil: WaitUntil,
): Promise<void> {
  let [writes, since] = [-1, 0]
  let leader: RunningOperator | undefined
  const isQuiet = async (): Promise<boolean> => {
    const { current } = replicas
    const passes = (await current?.passes()) ?? 0
    const isBehind = !(current?.hasSeen(observer.everything()) ?? false)
    if (writes !== injector.attempts.length || leader !== current || isTerminating(observer) || isBehind) {
      writes = injector.attempts.length
      since = passes
      leader = current
    }
    return isEmpty(scenario, observer) || passes - since >= QUIET_PASSES
  }
  await waitUntil('three passes without a write', isQuiet)
}

/** An object is terminating, so another controller has yet to act. */
function isTerminating(cluster: ClusterView): boolean {
  return cluster.all().some(({ metadata }) => metadata.deletionTimestamp !== undefined)
}

/** G6 after a restart: an operator that finds a converged cluster writes nothing. */
export async function writesAfterRestart(launch: Launch, scenario: Scenario, cluster: ClusterView): Promise<string[]> {
  const injector = new FaultInjector([])
  const running = launch(injector.interceptorFor({ kill: () => undefined, pause: () => undefined }))
  try {
    await until('three passes after a restart', async () => {
      return isEmpty(scenario, cluster) || (await running.passes()) >= QUIET_PASSES
    })
  } finally {
    running.kill()
    await running.ended
  }
  return injector.attempts.map((write) => `G6: wrote after a restart of a converged cluster: ${write}`)
}

function isEmpty({ primary }: Scenario, cluster: ClusterView): boolean {
  return cluster.list(primary).length === 0
}

/** Waits until the observer has seen everything that the API server lists. */
export async function waitUntilObserved(
  client: Client,
  namespace: string,
  kinds: readonly Resource[],
  observer: Observer,
): Promise<void> {
  await until('the observer to be up to date', async () => {
    const lists = await Promise.all(kinds.map((kind) => client.list(kind, { namespace })))
    const listed = lists.flatMap(({ items }) => items.filter(isObserved).map(version)).toSorted()
    const seen = observer.everything().map(version).toSorted()
    return listed.length === seen.length && listed.every((line, index) => line === seen[index])
  })
}

const isObserved = ({ metadata }: KubeObject): boolean => metadata.name !== ROOT_CA
const version = ({ metadata }: KubeObject): string => `${metadata.uid} ${metadata.resourceVersion}`
