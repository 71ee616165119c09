/** When a version that the spec no longer has drains, and when it is deleted. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { at, type Seen, viewOfModel } from '../../../../test/sim/model-view.ts'
import { type Retirement, retire } from './retirement.ts'
import { route } from './routing.ts'

interface Case extends Seen {
  readonly name: string
  /** Of the version v0. `endsAt` in seconds from now. */
  readonly gives: Omit<Retirement, 'endsAt'> & { readonly endsAt?: number }
}

const STAYS = { isOver: false }
const GOES = { isOver: true }
const v1 = { weight: 100, available: 1, recorded: { weight: 100 } }
const old = { available: 1, recorded: { weight: 0 } }
const drained = (seconds: number) => ({ available: 1, recorded: { weight: 0, idleSince: at(-seconds) } })
const drain = { drainSeconds: 30 }
const byDirect = { recorded: { provider: 'direct' }, leadsTo: 'v1', traffic: drain }
const byRouter = { recorded: { provider: 'router' }, leadsTo: 'router', traffic: { ...drain, provider: 'router' } }
const byReplicas = { recorded: { provider: 'replicas' }, leadsTo: 'replicas', traffic: { provider: 'replicas' } }

const cases: readonly Case[] = [
  { name: 'one of the spec stays', versions: { v0: { weight: 0, available: 1 }, v1 }, ...byDirect, gives: STAYS },
  { name: 'one that the Service selects stays', versions: { v0: old, v1 }, ...byDirect, leadsTo: 'v0', gives: STAYS },
  {
    name: 'one whose successor is not ready keeps its traffic and stays',
    versions: { v0: { available: 1, recorded: { weight: 100 } }, v1: { weight: 100, available: 0 } },
    ...byDirect,
    leadsTo: 'v0',
    gives: STAYS,
  },
  {
    name: 'the last ready one stays, even without traffic',
    versions: { v0: drained(300), v1: { weight: 100, available: 0 } },
    ...byDirect,
    gives: STAYS,
  },
  {
    name: 'one without traffic starts to drain',
    versions: { v0: old, v1 },
    ...byDirect,
    gives: { isOver: false, idleSince: at(0), endsAt: 30 },
  },
  {
    name: 'a draining version continues from the recorded state',
    versions: { v0: drained(20), v1 },
    ...byDirect,
    gives: { isOver: false, idleSince: at(-20), endsAt: 10 },
  },
  { name: 'one that has drained goes', versions: { v0: drained(30), v1 }, ...byDirect, gives: GOES },
  {
    name: 'one that cannot answer goes at once',
    versions: { v0: { available: 0, recorded: { weight: 0 } }, v1 },
    ...byDirect,
    gives: GOES,
  },
  {
    name: 'one that the router still sends requests to stays',
    versions: { v0: drained(300), v1 },
    ...byRouter,
    inEffect: { router: { v0: 50, v1: 50 } },
    gives: STAYS,
  },
  {
    name: 'one that a provider beside the current one sends requests to stays',
    versions: { v0: drained(300), v1 },
    recorded: { provider: 'direct' },
    leadsTo: 'v1',
    offers: ['istio'],
    traffic: { ...drain, provider: 'istio' },
    inEffect: { istio: { v0: 50, v1: 50 } },
    gives: STAYS,
  },
  {
    name: 'one that the router sends nothing drains',
    versions: { v0: old, v1 },
    ...byRouter,
    inEffect: { router: { v0: 0, v1: 100 } },
    gives: { isOver: false, idleSince: at(0), endsAt: 30 },
  },
  {
    name: 'pod counts: stays until the others have all their pods',
    versions: { v0: old, v1: { ...v1, scaling: { minReplicas: 2, maxReplicas: 2 } } },
    ...byReplicas,
    gives: STAYS,
  },
  { name: 'pod counts: goes without a drain of its own', versions: { v0: old, v1 }, ...byReplicas, gives: GOES },
]

for (const { name, gives, ...seen } of cases) {
  test(`retirement: ${name}`, () => {
    const view = viewOfModel(seen)
    const found = retire(view, route(view, view.versions)).get('v0')
    const endsAt = found?.endsAt === undefined ? {} : { endsAt: (found.endsAt - view.now) / 1000 }
    assert.deepEqual({ ...found, ...endsAt }, gives)
  })
}

test('retirement: what is unknown of a provider counts as traffic', () => {
  const view = viewOfModel({
    versions: { v0: drained(300), v1 },
    ...byRouter,
    inEffect: { router: { v0: 0, v1: 100 } },
  })
  const silent = { ...view, observed: { ...view.observed, traffic: { ...view.observed.traffic, reports: new Map() } } }
  const isOver = (seen: typeof view) => retire(seen, route(seen, seen.versions)).get('v0')?.isOver
  assert.deepEqual([view, silent].map(isOver), [true, false])
})
