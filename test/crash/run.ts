/**
 * One plan: a scenario is played once, in a namespace of its own, while the program under test is killed where the plan
 * says. The oracles watch throughout; in the end everything has to come to rest and stay there.
 */
import { randomBytes } from 'node:crypto'
import type { Client } from '../../src/kube/client.ts'
import { keyOf, type KubeObject, type Resource } from '../../src/kube/object.ts'
import { Namespace } from '../../src/kube/resources.ts'
import { Kubelet } from '../kubelet.ts'
import { until } from '../until.ts'
import { endState, type Trace } from './differential.ts'
import type { FaultPlan } from './fault.ts'
import { generalOracles } from './general-oracles.ts'
import type { Places } from './places.ts'
import { type Launch, type Life, RestartedProcess } from './process.ts'
import { Saboteur } from './saboteur.ts'
import { EVERYWHERE, type Oracle, Witness, type World } from './witness.ts'

/** Where a scenario is played, and by whom. */
export interface Stage {
  readonly client: Client
  readonly namespace: string
  readonly world: World
  readonly kubelet: Kubelet
  readonly until: Patience
}

/** Waits for an answer, but no longer once a rule is broken: nothing that follows would be worth the wait. */
export type Patience = <T>(what: string, ask: () => T | Promise<T>) => Promise<Exclude<T, false | undefined>>

export interface Scenario {
  readonly name: string
  /** The kind under test, and all others to watch. */
  readonly primary: Resource
  readonly kinds: readonly Resource[]
  readonly oracles: () => readonly Oracle[]
  /** Plays users and nodes, from the first manifest to the state that is the end. */
  readonly play: (stage: Stage) => Promise<void>
}

/** What all plans share. */
export interface Lab {
  readonly client: Client
  /** The node that fake kubelets put pods on. */
  readonly node: string
  /** The program under test, told to serve one namespace. */
  readonly program: (namespace: string) => Launch
  /** Who else acts in the namespace, if anybody. */
  readonly neighbour?: (namespace: string) => { stop(): Promise<void> }
  /** How long to wait for rest, once everything has been played. */
  readonly patienceMs: number
  /** Namespaces to delete in the end. */
  readonly namespaces: Set<string>
  /** How many plans run side by side. */
  readonly places: Places
}

export interface Outcome extends Trace {
  readonly writes: readonly string[]
  readonly violations: readonly string[]
  readonly deaths: number
  readonly unreached: number
}

const QUIET_PASSES = 3

export async function runPlan(lab: Lab, scenario: Scenario, { faults, lag }: FaultPlan): Promise<Outcome> {
  const { client } = lab
  const namespace = await freshNamespace(client)
  const kinds = [scenario.primary, ...scenario.kinds]
  const witness = new Witness(client, namespace, kinds, [...scenario.oracles(), ...generalOracles])
  const kubelet = new Kubelet({ client, namespace, node: lab.node, decide: () => undefined })
  const neighbour = lab.neighbour?.(namespace)
  const outside: string[] = []
  const saboteur = new Saboteur(faults, ({ namespace: place, path }) => {
    if (place !== namespace) outside.push(`G2: wrote outside the namespace: ${path}`)
  })
  const process = new RestartedProcess(lab.program(namespace), saboteur, lag)
  const failures: string[] = []
  try {
    await scenario.play({ client, namespace, world: witness, kubelet, until: patience(witness) })
    await settled({ process, saboteur, scenario, witness }, patience(witness, lab.patienceMs))
    await process.stop()
    failures.push(...(await writesAfterRestart(lab.program(namespace), scenario, witness)))
    await caughtUp(client, namespace, kinds, witness)
  } catch (error) {
    if (witness.violations.length === 0) failures.push(complaint(error, witness))
  } finally {
    await Promise.all([process.stop(), kubelet.stop(), neighbour?.stop()])
    await witness.stop()
    await abandon(lab, namespace, scenario.primary)
  }
  return {
    writes: saboteur.attempts,
    violations: [...witness.judge(), ...outside, ...failures],
    deaths: process.deaths,
    unreached: saboteur.unreached.length,
    tally: witness.tally,
    end: endState(witness.all(), namespace),
  }
}

const BROKEN = Symbol('a rule is broken')

function patience({ violations }: Witness, patienceMs?: number): Patience {
  return async <T>(what: string, ask: () => T | Promise<T>) => {
    const asked = (): T | Promise<T> | typeof BROKEN => (violations.length > 0 ? BROKEN : ask())
    const answer = await until<T | typeof BROKEN>(what, asked, patienceMs)
    if (answer === BROKEN) throw new Error('a rule is broken')
    return answer
  }
}

interface Play {
  readonly process: RestartedProcess
  readonly saboteur: Saboteur
  readonly scenario: Scenario
  readonly witness: Witness
}

/** Three passes in a row, each over everything there is and with nothing unseen, without a write. */
async function settled({ process, saboteur, scenario, witness }: Play, patient: Patience): Promise<void> {
  let writes = saboteur.attempts.length
  let since = await process.current.passes()
  const isQuiet = async (): Promise<boolean> => {
    const passes = await process.current.passes()
    const isBehind = !process.current.hasSeen(witness.all())
    if (writes !== saboteur.attempts.length || passes < since || isMoving(witness) || isBehind) {
      writes = saboteur.attempts.length
      since = passes
    }
    return isEmpty(scenario, witness) || passes - since >= QUIET_PASSES
  }
  await patient('three passes without a write', isQuiet)
}

/** A pod on its way out is not rest: somebody else has yet to act. */
function isMoving(world: World): boolean {
  return world.all().some(({ metadata }) => metadata.deletionTimestamp !== undefined)
}

/** G6 after a restart: a program that finds everything done does nothing. */
async function writesAfterRestart(launch: Launch, scenario: Scenario, world: World): Promise<string[]> {
  const saboteur = new Saboteur([])
  const life: Life = launch(saboteur.life(() => undefined))
  try {
    await until('three passes after a restart', async () => {
      return isEmpty(scenario, world) || (await life.passes()) >= QUIET_PASSES
    })
  } finally {
    life.kill()
    await life.ended
  }
  return saboteur.attempts.map((write) => `G6: after a restart at rest it wrote: ${write}`)
}

function isEmpty({ primary }: Scenario, world: World): boolean {
  return world.list(primary).length === 0
}

async function caughtUp(client: Client, namespace: string, kinds: readonly Resource[], world: World): Promise<void> {
  await until('the witness to have seen everything', async () => {
    const lists = await Promise.all(kinds.map((kind) => client.list(kind, { namespace })))
    const there = lists.flatMap(({ items }) => items.filter(isSeen).map(version)).toSorted()
    const seen = world.all().map(version).toSorted()
    return there.length === seen.length && there.every((line, index) => line === seen[index])
  })
}

const isSeen = ({ metadata }: KubeObject): boolean => metadata.name !== EVERYWHERE
const version = ({ metadata }: KubeObject): string => `${metadata.uid} ${metadata.resourceVersion}`

async function freshNamespace(client: Client): Promise<string> {
  const name = `crash-${randomBytes(4).toString('hex')}`
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  await until(`ServiceAccount default in ${name}`, () =>
    client.request({ method: 'GET', path: `/api/v1/namespaces/${name}/serviceaccounts/default` }),
  )
  return name
}

/**
 * Nobody serves it any more, so its finalizers would keep the namespace for ever. The namespace itself goes when all
 * plans are done: emptying it costs the server more than the plan did.
 */
async function abandon({ client, namespaces }: Lab, namespace: string, primary: Resource): Promise<void> {
  const { items } = await client.list(primary, { namespace })
  for (const object of items) await client.patch(primary, keyOf(object), { metadata: { finalizers: null } })
  namespaces.add(namespace)
}

/** What a scenario found wrong itself, or that it waited in vain. */
function complaint(error: unknown, world: World): string {
  const why = reason(error)
  return /^[A-Z]\d+: /.test(why) ? why : `G6: ${why}\n${stateOf(world)}`
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message
}

/** For people who have to find out why: what there was when it went wrong. */
function stateOf(world: World): string {
  const line = (object: KubeObject & { readonly status?: object }): string =>
    `    ${object.kind}/${keyOf(object).name} ${JSON.stringify(object.status ?? {}).slice(0, 600)}`
  return world.all().map(line).join('\n')
}
