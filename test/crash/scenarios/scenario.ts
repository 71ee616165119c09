/** A scenario: what users and nodes do to an object, from its creation to a defined end. */
import type { Client } from '../../../src/kube/client.ts'
import type { Resource } from '../../../src/kube/object.ts'
import type { Kubelet } from '../../fakes/kubelet.ts'
import type { ClusterHistory, Oracle } from '../oracles/oracle.ts'

/** What a scenario works with: one namespace, observed, with a fake kubelet. */
export interface ScenarioContext {
  readonly client: Client
  readonly namespace: string
  readonly cluster: ClusterHistory
  readonly kubelet: Kubelet
  readonly until: WaitUntil
}

/** Waits for an answer. Stops waiting as soon as an oracle is violated. */
export type WaitUntil = <T>(what: string, ask: () => T | Promise<T>) => Promise<Exclude<T, false | undefined>>

export interface Scenario {
  readonly name: string
  /** The kind under test. */
  readonly primary: Resource
  /** All other kinds to watch. */
  readonly kinds: readonly Resource[]
  readonly oracles: () => readonly Oracle[]
  /** Acts as users and nodes until the end state is reached. */
  readonly run: (context: ScenarioContext) => Promise<void>
  /** How often pods were started again because the API server rejected a write. If absent, never. */
  readonly retries?: (cluster: ClusterHistory) => number
}
