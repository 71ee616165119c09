/** Random histories of a model: users edit the spec, pods start and die, status is stale, and the operator crashes. */
import assert from 'node:assert/strict'
import type { RolloutStatus } from '../../src/api/rollout-status.ts'
import { Dice } from '../random/dice.ts'
import { deviceNode, GPU } from './device-nodes.ts'
import { rolloutAtRest, rolloutMoves, someRollout } from './rollout-moves.ts'
import type { Planner } from './serving-cluster.ts'
import { isAdmitted, ServingCluster, version } from './serving-cluster.ts'
import { ServingOracles } from './serving-oracles.ts'

const VERSIONS = ['v1', 'v2', 'v3', 'v4']
const PROVIDERS = ['auto', 'auto', 'auto', 'istio', 'gateway', 'router', 'router', 'replicas'] as const

/** Weights that sum to 100, some of them 0. */
function weights(dice: Dice, count: number): number[] {
  const cuts = Array.from({ length: count - 1 }, () => dice.of([0, 1, 10, 33, 50, 90, 99, 100])).toSorted(
    (a, b) => a - b,
  )
  return [...cuts, 100].map((cut, index) => cut - (cuts[index - 1] ?? 0))
}

export function someSpec(dice: Dice): object {
  const names = VERSIONS.filter(() => dice.is(0.45))
  const chosen = names.length === 0 ? [dice.of(VERSIONS)] : names
  const shares = weights(dice, chosen.length)
  const min = dice.of([1, 1, 2, 3])
  const spec = {
    image: dice.of(['iris:1', 'iris:1', 'iris:2']),
    versions: chosen.map((name, index) => version(name, shares[index] ?? 0)),
    scaling: { minReplicas: min, maxReplicas: dice.of([min, min + 2]), targetCPUUtilization: 70 },
    traffic: {
      provider: dice.of(PROVIDERS),
      drainSeconds: dice.of([0, 5, 30]),
      ...(dice.is(0.2) && { gateways: ['public'] }),
    },
    ...(dice.is(0.5) && { rollout: someRollout(dice) }),
    ...(dice.is(0.3) && { resources: { limits: { [GPU]: dice.of([1, 1, 2]) } } }),
    ...(dice.is(0.1) && { validation: { script: 'validate.py', timeoutSeconds: 60 } }),
  }
  const { rollout: _rollout, ...plain } = spec
  return isAdmitted(spec as never) ? spec : plain
}

const someOffers = (dice: Dice): string[] => ['istio', 'gateway'].filter(() => dice.is(0.3))

type Move = (cluster: ServingCluster, dice: Dice) => void

const someServer = (cluster: ServingCluster, dice: Dice): string => dice.of([...VERSIONS, ...cluster.servers.keys()])

/** What others do. Each by itself, in any order: what is late is simply not played yet. */
const moves: readonly Move[] = [
  (cluster, dice) => cluster.edit(dice.is(0.5) ? someSpec(dice) : { versions: reweighed(cluster, dice) }),
  (cluster) => cluster.control(),
  (cluster) => cluster.control(),
  (cluster, dice) => cluster.change(someServer(cluster, dice), ({ pods }) => pods),
  (cluster, dice) => cluster.change(someServer(cluster, dice), ({ ready }) => ready + 1),
  (cluster, dice) => cluster.change(someServer(cluster, dice), ({ ready }) => ready - 1),
  (cluster, dice) => cluster.change(someServer(cluster, dice), () => 0),
  (cluster) => reportAll(cluster),
  (cluster) => reportAll(cluster),
  (cluster, dice) => cluster.report(someServer(cluster, dice)),
  (cluster) => steerAll(cluster),
  (cluster, dice) => cluster.routers.length > 0 && cluster.steer(dice.of(cluster.routers)),
  (cluster, dice) => cluster.routers.length > 0 && cluster.lose(dice.of(cluster.routers)),
  (cluster, dice) => {
    for (const router of cluster.routers) router.mute = dice.is(0.3)
  },
  (cluster) => cluster.loseRouters(),
  loseAtSwitch,
  removeWhileRoutersLag,
  (cluster, dice) => cluster.scale(dice.of([1, 2, 3, 4, 5])),
  (cluster) => cluster.accept(),
  (cluster, dice) => cluster.judge(dice.is(0.7) ? 'Complete' : 'Failed'),
  (cluster, dice) => cluster.offer(someOffers(dice)),
  deniedOffers,
  (cluster, dice) => (cluster.now += dice.of([1, 4, 10, 31]) * 1000),
  (cluster, dice) => (cluster.now += dice.of([1, 4, 10, 31]) * 1000),
  (cluster, dice) => calm(cluster, dice.below(8)),
  workAlone,
  workAlone,
  loseWanted,
  moveGpus,
  changeUnderShortage,
  ...rolloutMoves,
]

/** Nodes come and go, and pods of others take GPUs and release them. */
function moveGpus(cluster: ServingCluster, dice: Dice): void {
  const sizes = dice.of([[1], [2], [4], [1, 1], [2, 4], [8, 8]])
  cluster.gpus.nodes = sizes.map((gpus, index) => deviceNode(`node-${index}`, gpus))
  cluster.gpus.taken = dice.below(5)
}

/** Another image while no GPU is free, of which some are free before all pods are replaced. */
function changeUnderShortage(cluster: ServingCluster, dice: Dice): void {
  cluster.edit({ resources: { limits: { [GPU]: 1 } }, scaling: { minReplicas: 1, maxReplicas: 1 } })
  cluster.gpus.nodes = [deviceNode('node-0', 1)]
  calm(cluster, 10)
  cluster.gpus.taken = dice.below(2)
  cluster.edit({ image: dice.of(['iris:3', 'iris:4']) })
  cluster.pass(dice.is(0.3) ? dice.below(3) : Infinity)
  moveGpus(cluster, dice)
  cluster.pass()
}

/** Time passes and only the operator works. */
function workAlone(cluster: ServingCluster): void {
  for (let pass = 0; pass < 3; pass += 1) {
    cluster.pass()
    cluster.now += 31_000
  }
}

/** All routers are lost just when the switch to them is on record. */
function loseAtSwitch(cluster: ServingCluster): void {
  cluster.edit({ traffic: { ...cluster.model.spec.traffic, provider: 'router' } })
  for (let pass = 0; pass < 10; pass += 1) {
    const { provider, previous, since } = cluster.model.status?.traffic ?? {}
    if (provider === 'router' && previous !== undefined && since === undefined) {
      cluster.loseRouters()
      cluster.pass()
      return
    }
    calm(cluster, 1)
  }
}

/** A version leaves the spec while the routers still follow the route from before. */
function removeWhileRoutersLag(cluster: ServingCluster): void {
  const traffic = { ...cluster.model.spec.traffic, provider: 'router' }
  cluster.edit({ traffic, versions: [version('v1', 50), version('v2', 50)] })
  calm(cluster, 10)
  cluster.edit({ versions: [version('v1', 100)] })
  workAlone(cluster)
}

/** The API server answers 404 for every optional kind, for as long as some passes take. */
function deniedOffers(cluster: ServingCluster, dice: Dice): void {
  cluster.denyOffers(() => {
    for (let pass = dice.below(4); pass > 0; pass -= 1) cluster.pass()
  })
}

/** All pods of the spec's versions die, and their status is updated at once. */
function loseWanted(cluster: ServingCluster): void {
  for (const { name } of cluster.model.spec.versions) {
    cluster.change(name, () => 0)
    cluster.report(name)
  }
}

function reweighed(cluster: ServingCluster, dice: Dice): unknown[] {
  const { versions } = cluster.model.spec
  const shares = weights(dice, versions.length)
  return versions.map((one, index) => ({ ...one, weight: shares[index] ?? 0 }))
}

function reportAll(cluster: ServingCluster): void {
  for (const name of cluster.servers.keys()) cluster.report(name)
}

function steerAll(cluster: ServingCluster): void {
  for (const router of cluster.routers) cluster.steer(router)
}

/** For some passes everything works and time passes. Returns whether nothing was left to write in the end. */
export function calm(cluster: ServingCluster, passes: number): boolean {
  let quiet = 0
  for (let pass = 0; pass < passes; pass += 1) {
    const before = cluster.writes.length
    cluster.control()
    for (const name of cluster.servers.keys()) cluster.change(name, ({ pods }) => pods)
    reportAll(cluster)
    steerAll(cluster)
    for (const router of cluster.routers) router.mute = false
    cluster.accept()
    cluster.judge('Complete')
    cluster.request()
    const { requeueAfterMs } = cluster.pass()
    quiet = cluster.writes.length === before ? quiet + 1 : 0
    if (quiet >= 2 && !isWaiting(cluster)) return true
    // What the operator writes, it observes at once.
    cluster.now += Math.min(requeueAfterMs ?? 1000, quiet > 0 ? Infinity : 1000)
  }
  return false
}

const PATIENCE = 200

/** Something is only put off. */
function isWaiting({ model: { status } }: ServingCluster): boolean {
  const isDraining = status?.activeVersions?.some(({ idleSince }) => idleSince !== undefined) ?? false
  return isDraining || status?.traffic?.previous !== undefined || isUnderWay(status?.rollout)
}

/** A rollout that goes on by itself. One that waits for requests, for figures or for a person may wait for ever. */
function isUnderWay({ phase, reason }: Partial<RolloutStatus> = {}): boolean {
  return (
    (phase === 'Progressing' || phase === 'Watching') && reason !== 'TooFewRequests' && reason !== 'WaitingForMetrics'
  )
}

export interface Played {
  readonly writes: number
  readonly cluster: ServingCluster
}

/** Plays one history and lets it come to rest. Throws what an oracle found. */
export function play(seed: number, plan: Planner, length = 10): Played {
  const dice = new Dice(seed)
  const oracles = new ServingOracles()
  const offers = someOffers(dice)
  const watched: Planner = (observed) => {
    oracles.observe(observed)
    return plan(observed)
  }
  const spec = someSpec(dice)
  const cluster = new ServingCluster(watched, (now, write) => oracles.check(now, write), { spec, offers })
  if (dice.is(0.4)) calm(cluster, 10)
  for (let step = 0; step < length; step += 1) {
    if (dice.is(0.7)) cluster.pass(dice.is(0.15) ? dice.below(6) : Infinity)
    dice.of(moves)(cluster, dice)
    oracles.look(cluster)
  }
  // A failed validation stays failed until the spec changes.
  cluster.edit({ validation: undefined })
  rests(cluster)
  rolloutAtRest(cluster)
  cluster.edit({ rollout: undefined, paused: undefined, rollbackTo: undefined })
  rests(cluster)
  atRest(cluster)
  return { writes: cluster.writes.length, cluster }
}

function rests(cluster: ServingCluster): void {
  // A step that waits for a person is judged as long as there are requests.
  const isAtGate = (): boolean => cluster.model.status?.rollout?.reason === 'StepPaused'
  assert.ok(calm(cluster, PATIENCE) || isAtGate(), `G6: no rest: ${JSON.stringify(cluster.model.status)}`)
}

/** The observed state matches the spec, and nothing else is left. */
function atRest(cluster: ServingCluster): void {
  const { spec, status } = cluster.model
  const wanted = spec.versions.map(({ name }) => name).toSorted()
  assert.deepEqual([...cluster.servers.keys()].toSorted(), wanted, 'G5: the versions of the spec, and no other')
  assert.equal(status?.phase, 'Running', `G5: ${JSON.stringify(status)}`)
  assert.equal(status.traffic?.previous, undefined, 'G5: one provider')
  const isSplit = status.traffic?.provider === 'replicas'
  const reported = new Map(status.activeVersions?.map(({ name, weight = 0 }) => [name, weight]))
  for (const { name, weight } of spec.versions) {
    if (!isSplit) assert.equal(reported.get(name), weight, `G5: ${name} gets its weight`)
    if (isSplit) assert.equal((reported.get(name) ?? 0) > 0, weight > 0, `G5: ${name} gets some`)
  }
  const isRouted = status.traffic?.provider === 'router'
  assert.equal(cluster.objects.has('Deployment/iris-router'), isRouted, 'G5: a router where it is used, and only there')
  const kinds = [...new Set(cluster.of('VirtualService', 'HTTPRoute').map(({ kind }) => kind))]
  const expected = { istio: ['VirtualService'], gateway: ['HTTPRoute'] }[status.traffic?.provider as string] ?? []
  assert.deepEqual(kinds, expected, 'G5: routes of one provider only')
}
