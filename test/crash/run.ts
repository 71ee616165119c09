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
import { type CrashPoint, Killer } from './killer.ts'
import type { Places } from './places.ts'
import { type Launch, type Life, RestartedProcess } from './process.ts'
import { EVERYWHERE, type Oracle, Witness, type World } from './witness.ts'

/** Where a scenario is played, and by whom. */
export interface Stage {
  readonly client: Client
  readonly namespace: string
  readonly world: World
  readonly kubelet: Kubelet
}

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

export async function runPlan(lab: Lab, scenario: Scenario, points: readonly CrashPoint[]): Promise<Outcome> {
  const { client } = lab
  const namespace = await freshNamespace(client)
  const kinds = [scenario.primary, ...scenario.kinds]
  const witness = new Witness(client, namespace, kinds, [...scenario.oracles(), ...generalOracles])
  const kubelet = new Kubelet({ client, namespace, node: lab.node, decide: () => undefined })
  const outside: string[] = []
  const killer = new Killer(points, ({ namespace: place, path }) => {
    if (place !== namespace) outside.push(`G2: wrote outside the namespace: ${path}`)
  })
  const process = new RestartedProcess(lab.program(namespace), killer)
  const failures: string[] = []
  try {
    await scenario.play({ client, namespace, world: witness, kubelet })
    await settled(process, killer, scenario, witness)
    await process.stop()
    failures.push(...(await writesAfterRestart(lab.program(namespace), scenario, witness)))
    await caughtUp(client, namespace, kinds, witness)
  } catch (error) {
    failures.push(`G6: ${reason(error)}\n${stateOf(witness)}`)
  } finally {
    await Promise.all([process.stop(), kubelet.stop()])
    await witness.stop()
    await abandon(lab, namespace, scenario.primary)
  }
  return {
    writes: killer.attempts,
    violations: [...witness.judge(), ...outside, ...failures],
    deaths: process.deaths,
    unreached: killer.unreached.length,
    tally: witness.tally,
    end: endState(witness.all(), namespace),
  }
}

/** Three passes in a row, each over everything there is and with nothing unseen, without a write. */
async function settled(process: RestartedProcess, killer: Killer, scenario: Scenario, world: World): Promise<void> {
  let writes = killer.attempts.length
  let since = await process.current.passes()
  await until('three passes without a write', async () => {
    const passes = await process.current.passes()
    const isBehind = !process.current.hasSeen(world.all())
    if (writes !== killer.attempts.length || passes < since || isMoving(world) || isBehind) {
      writes = killer.attempts.length
      since = passes
    }
    return isEmpty(scenario, world) || passes - since >= QUIET_PASSES
  })
}

/** A pod on its way out is not rest: somebody else has yet to act. */
function isMoving(world: World): boolean {
  return world.all().some(({ metadata }) => metadata.deletionTimestamp !== undefined)
}

/** G6 after a restart: a program that finds everything done does nothing. */
async function writesAfterRestart(launch: Launch, scenario: Scenario, world: World): Promise<string[]> {
  const killer = new Killer([])
  const life: Life = launch(killer.life(() => undefined))
  try {
    await until('three passes after a restart', async () => {
      return isEmpty(scenario, world) || (await life.passes()) >= QUIET_PASSES
    })
  } finally {
    life.kill()
    await life.ended
  }
  return killer.attempts.map((write) => `G6: after a restart at rest it wrote: ${write}`)
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

/** G1: nothing is left that belongs to somebody who is no more. */
const generalOracles: readonly Oracle[] = [
  {
    name: 'G1',
    atRest: (world) => {
      const living = new Set(world.all().map(({ metadata }) => metadata.uid))
      const isOrphan = ({ metadata }: KubeObject): boolean =>
        metadata.ownerReferences?.some(({ uid }) => !living.has(uid)) ?? false
      return world
        .all()
        .filter(isOrphan)
        .map((object) => `${object.kind}/${object.metadata.name} outlives its owner`)
    },
  },
]

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
