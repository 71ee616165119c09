/** A gang that gets only some of its nodes gives them back, so that two such gangs do not wait for each other for ever. */
import * as fc from 'fast-check'
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SharedNodes } from '../../../../test/sim/shared-nodes.ts'
import { TrainingCluster } from '../../../../test/sim/training-cluster.ts'
import { isFinal } from '../observe/state.ts'
import { needsLiveRead } from './live-read.ts'

const SPEC = { image: 'i', command: ['train'], gpusPerWorker: 0, numWorkers: 3, checkpoint: { enabled: false } }
const MINUTE = 60_000
/** The timeout, with the longest jitter. */
const DUE = 15 * MINUTE

/** Two of three workers have a node. */
function halfPlaced(spec: object = {}): TrainingCluster {
  const cluster = new TrainingCluster({ ...SPEC, ...spec })
  cluster.settle()
  placeTwo(cluster)
  return cluster
}

function placeTwo(cluster: TrainingCluster): void {
  const [one, other, last] = cluster.pods
  for (const pod of [one, other]) if (pod) cluster.run(pod)
  if (last) cluster.findNoNode(last)
  cluster.settle()
}

describe('a gang with some of its nodes', () => {
  test('records since when, and gives its nodes back after the timeout, without a charge', () => {
    const cluster = halfPlaced()
    const { scheduling } = cluster.job.status ?? {}
    assert.deepEqual(scheduling, { gang: 'none', attempt: 1, partialSince: '2026-01-01T00:00:00Z' })
    cluster.now += 9 * MINUTE
    cluster.settle()
    assert.deepEqual([cluster.job.status?.attempts, cluster.job.status?.scheduling], [1, scheduling])
    cluster.now += 6 * MINUTE
    const plan = cluster.pass()
    assert.deepEqual([plan?.deletions, plan?.writes], [[], []], 'it is recorded before a pod is deleted')
    const { attempts, state, failures, restarts, reason = '' } = cluster.job.status ?? {}
    assert.deepEqual([attempts, state, failures, restarts], [2, 'Pending', 0, 0])
    assert.match(reason, /^GangTimedOut: 1 of 3 workers found no node within 10m .*gangTimeoutSeconds.*not counted/)
    assert.deepEqual(cluster.job.status?.scheduling, { gang: 'none', attempt: 2, releases: 1 })
    assert.ok(cluster.events.includes('GangTimedOut'))
    cluster.settle()
    cluster.letGo()
    cluster.settle()
    assert.equal(cluster.pods.length, 0, 'the next attempt waits for the pause')
    cluster.now += MINUTE
    cluster.settle()
    assert.equal(cluster.pods.length, 3)
  })

  test('is looked at again when the timeout is over', () => {
    const { requeueAfterMs = 0 } = halfPlaced().pass() ?? {}
    assert.ok(requeueAfterMs >= 10 * MINUTE && requeueAfterMs <= DUE, String(requeueAfterMs))
  })

  test('is read from the API server before its nodes are given back', () => {
    const cluster = halfPlaced()
    assert.equal(needsLiveRead(cluster.observed), false)
    cluster.now += DUE
    assert.equal(needsLiveRead(cluster.observed), true)
  })

  test('keeps its nodes when the last pod gets one in time', () => {
    const cluster = halfPlaced()
    cluster.now += 5 * MINUTE
    cluster.runAll()
    cluster.settle()
    assert.deepEqual(cluster.job.status?.scheduling, { gang: 'none', attempt: 1 })
    cluster.now += 60 * MINUTE
    cluster.settle()
    assert.deepEqual([cluster.job.status?.state, cluster.job.status?.attempts], ['Running', 1])
  })

  test('pauses longer with each release, and forgets them when it runs', () => {
    const cluster = halfPlaced()
    const pauses = [1, 2, 3].map(() => {
      cluster.now += DUE
      cluster.settle()
      const pause = Date.parse(cluster.job.status?.restartTime ?? '') - cluster.now
      cluster.letGo()
      cluster.now += pause
      cluster.settle()
      placeTwo(cluster)
      return pause / 1000
    })
    assert.ok(
      pauses.every((pause, index) => pause >= 10 * 2 ** index && pause <= 20 * 2 ** index + 1),
      pauses.join(', '),
    )
    assert.equal(cluster.job.status?.scheduling?.releases, 3)
    cluster.runAll()
    cluster.settle()
    assert.equal(cluster.job.status?.scheduling?.releases, undefined)
  })

  for (const [name, spec] of [
    ['0 disables it', { scheduling: { gangTimeoutSeconds: 0 } }],
    [
      'an elastic gang that can train keeps its nodes',
      { command: ['torchrun', 'x'], elastic: { minWorkers: 2, maxWorkers: 4 } },
    ],
  ] as const)
    test(name, () => {
      const cluster = halfPlaced(spec)
      cluster.now += 24 * 60 * MINUTE
      cluster.settle()
      assert.deepEqual([cluster.job.status?.attempts, cluster.pods.length], [1, 3])
    })

  test('an elastic gang below its minimum gives its nodes back', () => {
    const cluster = halfPlaced({ command: ['torchrun', 'x'], elastic: { minWorkers: 3, maxWorkers: 4 } })
    cluster.now += DUE
    cluster.settle()
    assert.equal(cluster.job.status?.attempts, 2)
  })

  test('a gang scheduler decides itself', () => {
    const cluster = new TrainingCluster(SPEC)
    cluster.servedKinds = new Set(['podgroups.scheduling.k8s.io'])
    cluster.settle()
    placeTwo(cluster)
    cluster.now += 24 * 60 * MINUTE
    cluster.settle()
    assert.equal(cluster.job.status?.attempts, 1)
  })

  test('a gang without any node waits, however long it takes', () => {
    const cluster = new TrainingCluster(SPEC)
    cluster.settle()
    for (const pod of cluster.pods) cluster.findNoNode(pod)
    cluster.settle()
    cluster.now += 24 * 60 * MINUTE
    cluster.settle()
    assert.deepEqual([cluster.job.status?.attempts, cluster.job.status?.scheduling?.partialSince], [1, undefined])
  })
})

/** Steps of half a minute until every job has ended. Undefined if that takes more than two days. */
function stepsToEnd(nodes: SharedNodes): number | undefined {
  for (let step = 1; step <= 5760; step += 1) {
    nodes.step(30)
    if (nodes.jobs.every(({ job }) => isFinal(job.status?.state))) return step
  }
  return undefined
}

const sized = (numWorkers: number, scheduling: object = {}): object => ({ ...SPEC, numWorkers, scheduling })

test('two gangs that fit only one at a time both complete, in every order of scheduling, and without a charge', () => {
  const sizes = fc.integer({ min: 2, max: 6 })
  fc.assert(
    fc.property(
      sizes,
      sizes,
      fc.nat(4),
      fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
      (one, other, spare, dice) => {
        const places = Math.min(Math.max(one, other) + spare, one + other - 1)
        const nodes = new SharedNodes([sized(one), sized(other)], places, () => dice.next().value)
        assert.notEqual(stepsToEnd(nodes), undefined, JSON.stringify(nodes.jobs.map(({ job }) => job.status)))
        for (const { job } of nodes.jobs)
          assert.deepEqual([job.status?.state, job.status?.failures, job.status?.restarts], ['Completed', 0, 0])
      },
    ),
    { numRuns: 60 },
  )
})

test('without the timeout, two half gangs wait for each other', () => {
  // The scheduler alternates between the two jobs.
  let turn = 0
  const alternating = (): number => [0, 2, 1, 3][turn++ % 4] ?? 0
  const endless = { gangTimeoutSeconds: 0 }
  const nodes = new SharedNodes([sized(2, endless), sized(2, endless)], 2, alternating)
  assert.equal(stepsToEnd(nodes), undefined)
  assert.equal(nodes.held, 2)
})
