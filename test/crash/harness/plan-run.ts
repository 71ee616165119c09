/**
 * Runs one fault plan: a scenario in a namespace of its own while faults are injected. Oracles judge every change. At the end
 * the cluster has to converge and stay so.
 */
import type { Client } from '../../../src/kube/client.ts'
import type { Call } from '../../../src/kube/interceptor.ts'
import { keyOf, type KubeObject } from '../../../src/kube/object.ts'
import { Lease } from '../../../src/kube/resources.ts'
import { Kubelet } from '../../fakes/kubelet.ts'
import type { Semaphore } from '../../timing/semaphore.ts'
import { until } from '../../timing/until.ts'
import { DECOY } from '../faults/decoys.ts'
import { type Environment, environmentOf } from '../faults/environment.ts'
import { FaultInjector } from '../faults/fault-injector.ts'
import type { FaultPlan } from '../faults/fault.ts'
import { NamespaceDeletion } from '../faults/namespace-deletion.ts'
import { endState, type Trace } from '../oracles/differential.ts'
import { generalOracles, orphansIn } from '../oracles/general-oracles.ts'
import { hotLoops } from '../oracles/hot-loop.ts'
import { allowLateCreations, type LateWrites } from '../oracles/late-creation.ts'
import { Observer } from '../oracles/observer.ts'
import type { ClusterView } from '../oracles/oracle.ts'
import type { Scenario, ScenarioContext, WaitUntil } from '../scenarios/scenario.ts'
import { waitUntilConverged, waitUntilObserved, writesAfterRestart } from './convergence.ts'
import { leaseIn } from './harness.ts'
import { abandonNamespace, createPlanNamespace } from './namespace.ts'
import { type Launch, OperatorReplicas } from './operator-replicas.ts'
import type { SharedWatches } from './shared-watches.ts'

/** What all plans share. */
export interface Harness {
  readonly client: Client
  /** The node that fake kubelets bind pods to. */
  readonly node: string
  /** Launches the operator under test for one namespace. */
  readonly program: (namespace: string) => Launch
  /** Starts another controller of the namespace, if the workload needs one. */
  readonly startNeighbour?: (namespace: string) => { stop(): Promise<void> }
  /** How long to wait for convergence after the scenario. */
  readonly patienceMs: number
  /** How long to wait for each step of a scenario. */
  readonly stepPatienceMs?: number
  /** Namespaces to delete at the end. */
  readonly namespaces: Set<string>
  /** Limits how many plans run in parallel. */
  readonly slots: Semaphore
  readonly watches: SharedWatches
}

export interface Outcome extends Trace {
  readonly writes: readonly string[]
  readonly violations: readonly string[]
  readonly crashes: number
  readonly unreached: number
  /** Milliseconds, by phase of the plan. */
  readonly times: Readonly<Record<string, number>>
}

export async function runPlan(harness: Harness, scenario: Scenario, plan: FaultPlan): Promise<Outcome> {
  const timer = new PhaseTimer()
  const run = await startPlan(harness, scenario, plan)
  const { namespace, observer, injector, foreignWrites, replicas, kubelet, neighbour, deletion } = run
  timer.next('set up')
  const violations = await runScenario(run, timer)
  await Promise.all([replicas.stop(), kubelet.stop(), neighbour?.stop()])
  observer.stop()
  if (!deletion.isPlanned) await abandonNamespace(harness, namespace, scenario)
  timer.next('tear down')
  return {
    writes: injector.attempts,
    violations: [...observer.judge(), ...foreignWrites, ...hotLoops(injector.attempts), ...violations],
    crashes: replicas.crashes,
    unreached: injector.unreached.length,
    tally: observer.tally,
    retries: scenario.retries?.(observer) ?? 0,
    end: endState(observer.all(), namespace),
    times: timer.times,
  }
}

interface PlanRun {
  readonly harness: Harness
  readonly scenario: Scenario
  readonly namespace: string
  readonly observer: Observer
  /** Requests that a paused replica sent after its pause. */
  readonly late: LateWrites
  readonly injector: FaultInjector
  /** Violations of G2: writes to other namespaces or to decoys. */
  readonly foreignWrites: readonly string[]
  readonly launch: Launch
  readonly replicas: OperatorReplicas
  readonly kubelet: Kubelet
  readonly neighbour: { stop(): Promise<void> } | undefined
  readonly deletion: NamespaceDeletion
}

async function startPlan(harness: Harness, scenario: Scenario, plan: FaultPlan): Promise<PlanRun> {
  const { client } = harness
  const namespace = await createPlanNamespace(client)
  const deletion = new NamespaceDeletion(client, namespace, plan.namespaceDeletedAt, harness.stepPatienceMs)
  const late = new Set<string>()
  const oracles = [...scenario.oracles(), ...generalOracles()].map((oracle) => allowLateCreations(oracle, late))
  const observer = new Observer(deletion.isPlanned ? [] : oracles)
  await observer.watch(harness.watches, namespace, [scenario.primary, ...scenario.kinds])
  const kubelet = new Kubelet({ client, namespace, node: harness.node, decide: () => undefined })
  const neighbour = harness.startNeighbour?.(namespace)
  const { injector, environment, foreignWrites } = injectFaults(plan, namespace, deletion)
  const launch = harness.program(namespace)
  const { resyncMs } = deletion
  const expireLease = (): Promise<unknown> =>
    client.patch(Lease, leaseIn(namespace), { spec: { holderIdentity: '', leaseDurationSeconds: 1 } })
  const { replicas: count } = plan
  const onLate = ({ resource, name }: Call): void => void late.add(`${resource?.plural}/${name}`)
  const options = { launch, injector, environment, replicas: count, resyncMs, expireLease, onLate }
  const replicas = new OperatorReplicas(options)
  const started = { namespace, observer, injector, foreignWrites, launch, replicas, kubelet, neighbour, deletion }
  return { harness, scenario, late, ...started }
}

interface InjectedFaults {
  readonly injector: FaultInjector
  readonly environment: Environment
  readonly foreignWrites: readonly string[]
}

function injectFaults(plan: FaultPlan, namespace: string, deletion: NamespaceDeletion): InjectedFaults {
  const foreignWrites: string[] = []
  const injector: FaultInjector = new FaultInjector(plan.faults, (call) => {
    if (call.namespace !== namespace) foreignWrites.push(`G2: wrote outside the namespace: ${call.path}`)
    if (call.name?.startsWith(DECOY)) foreignWrites.push(`G2: wrote to an object of another owner: ${call.path}`)
    environment.onWrite(injector.attempts.length)
    deletion.onWrite(injector.attempts.length)
  })
  const environment = environmentOf(plan, injector)
  return { injector, environment, foreignWrites }
}

/** Runs the scenario to its end. Returns the violations that the observer's oracles cannot see. */
async function runScenario(run: PlanRun, timer: PhaseTimer): Promise<string[]> {
  const { harness, scenario, namespace, observer, injector, kubelet, deletion } = run
  const { client, stepPatienceMs } = harness
  const waitUntil = waitUntilViolated(observer, deletion, stepPatienceMs)
  const context: ScenarioContext = { client, namespace, cluster: observer, kubelet, until: waitUntil }
  try {
    if (deletion.isPlanned) return await deletion.run(() => scenario.run(context), injector.attempts)
    await scenario.run(context)
    timer.next('scenario')
    return await converge(run, timer)
  } catch (error) {
    return observer.violations.length === 0 ? [violationOf(error, observer)] : []
  }
}

async function converge(run: PlanRun, timer: PhaseTimer): Promise<string[]> {
  const { harness, scenario, namespace, observer, late, replicas, launch, deletion } = run
  const waitUntil = waitUntilViolated(observer, deletion, harness.patienceMs)
  replicas.resumePaused()
  await waitUntilConverged(run, waitUntil)
  if (late.size > 0) await waitUntil('orphans to be deleted', () => orphansIn(observer).length === 0)
  await replicas.stop()
  timer.next('converge')
  const violations = await writesAfterRestart(launch, scenario, observer)
  await waitUntilObserved(harness.client, namespace, [scenario.primary, ...scenario.kinds], observer)
  timer.next('restart')
  return violations
}

class PhaseTimer {
  readonly times: Record<string, number> = {}
  #since = performance.now()

  next(phase: string): void {
    const now = performance.now()
    this.times[phase] = now - this.#since
    this.#since = now
  }
}

const VIOLATED = Symbol('an oracle is violated')

/** `until`, but fails as soon as an oracle is violated or the namespace is deleted. */
function waitUntilViolated({ violations }: Observer, deletion: NamespaceDeletion, patienceMs?: number): WaitUntil {
  return async <T>(what: string, ask: () => T | Promise<T>) => {
    const isOver = (): boolean => violations.length > 0 || deletion.hasBegun
    const asked = (): T | Promise<T> | typeof VIOLATED => (isOver() ? VIOLATED : ask())
    const answer = await until<T | typeof VIOLATED>(what, asked, patienceMs)
    if (answer === VIOLATED) throw new Error('an oracle is violated')
    return answer
  }
}

/** A violation that the scenario itself found, or G6 when it waited in vain. */
function violationOf(error: unknown, cluster: ClusterView): string {
  const why = reasonOf(error)
  return /^[A-Z]\d+: /.test(why) ? why : `G6: ${why}\n${stateOf(cluster)}`
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message
}

/** The state of the cluster at the failure, for debugging. */
function stateOf(cluster: ClusterView): string {
  const line = (object: KubeObject & { readonly status?: object }): string =>
    `    ${object.kind}/${keyOf(object).name} ${JSON.stringify(object.status ?? {}).slice(0, 600)}`
  return cluster.all().map(line).join('\n')
}
