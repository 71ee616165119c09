/** Every step of a switch between providers, and what holds it up. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { at, type Seen, viewOfModel } from '../../../../test/sim/model-view.ts'
import { route } from './routing.ts'

interface Case extends Seen {
  readonly name: string
  readonly gives: {
    /** Undefined: no version is ready. */
    readonly weights?: Readonly<Record<string, number>> | undefined
    readonly current: string
    readonly active?: readonly string[]
    readonly next: object
    readonly isSettling?: boolean
    readonly drainEndsAt?: string
  }
}

const ready = { v1: { weight: 60, available: 1 }, v2: { weight: 40, available: 1 } }
const SPLIT = { v1: 60, v2: 40 }
const sole = { v1: { weight: 100, available: 1, recorded: { weight: 100 } } }
const direct = { provider: 'direct' }
const router = { provider: 'router' }
const switched = { provider: 'router', previous: 'direct' }
const drain = { traffic: { drainSeconds: 30 } }

const cases: readonly Case[] = [
  {
    name: 'a new model of one version goes direct',
    versions: { v1: { weight: 100, available: 1 } },
    gives: { weights: { v1: 100 }, current: 'direct', next: direct },
  },
  {
    name: 'no version is ready: nothing is decided and no switch begins',
    versions: { v1: { weight: 60, available: 0 }, v2: { weight: 40 } },
    recorded: direct,
    leadsTo: 'v1',
    gives: { weights: undefined, current: 'direct', next: direct },
  },
  {
    name: '1: the new provider is created beside the old one',
    versions: ready,
    recorded: direct,
    leadsTo: 'v1',
    gives: { weights: SPLIT, current: 'direct', active: ['direct', 'router'], next: direct, isSettling: true },
  },
  {
    name: '1: a provider with outdated weights does not take over',
    versions: ready,
    recorded: direct,
    leadsTo: 'v1',
    inEffect: { router: { v1: 50, v2: 50 } },
    gives: { weights: SPLIT, current: 'direct', active: ['direct', 'router'], next: direct, isSettling: true },
  },
  {
    name: '2: once it is in effect, it is recorded; the Service still leads to the old one',
    versions: ready,
    recorded: direct,
    leadsTo: 'v1',
    inEffect: { router: SPLIT },
    gives: { weights: SPLIT, current: 'direct', active: ['direct', 'router'], next: switched, isSettling: true },
  },
  {
    name: '3: the plan after the record switches the Service',
    versions: ready,
    recorded: switched,
    leadsTo: 'v1',
    inEffect: { router: SPLIT },
    gives: { weights: SPLIT, current: 'router', active: ['router', 'direct'], next: switched },
  },
  {
    name: '3: a provider that was lost before the switch is not switched to',
    versions: ready,
    recorded: switched,
    leadsTo: 'v1',
    gives: { weights: SPLIT, current: 'direct', active: ['direct', 'router'], next: direct, isSettling: true },
  },
  {
    name: '4: when the switch is observed, draining starts',
    versions: ready,
    ...drain,
    recorded: switched,
    leadsTo: 'router',
    inEffect: { router: SPLIT },
    gives: {
      weights: SPLIT,
      current: 'router',
      active: ['router', 'direct'],
      next: { ...switched, since: at(0) },
    },
  },
  {
    name: '4: a provider that is lost after the switch stays: the Service leads to it',
    versions: ready,
    ...drain,
    recorded: { ...switched, since: at(-1) },
    leadsTo: 'router',
    gives: {
      weights: SPLIT,
      current: 'router',
      active: ['router', 'direct'],
      next: { ...switched, since: at(-1) },
      isSettling: true,
      drainEndsAt: at(29),
    },
  },
  {
    name: '5: after the drain period the old provider goes',
    versions: ready,
    ...drain,
    recorded: { ...switched, since: at(-30) },
    leadsTo: 'router',
    inEffect: { router: SPLIT },
    gives: { weights: SPLIT, current: 'router', active: ['router'], next: router },
  },
  {
    name: 'a switch is reversed while it drains',
    versions: sole,
    ...drain,
    recorded: { ...switched, since: at(-1) },
    leadsTo: 'router',
    inEffect: { router: { v1: 100 } },
    gives: {
      weights: { v1: 100 },
      current: 'router',
      active: ['router', 'direct'],
      next: { provider: 'direct', previous: 'router' },
      isSettling: true,
      drainEndsAt: at(29),
    },
  },
  {
    name: 'a third provider waits until the switch is over',
    versions: ready,
    traffic: { provider: 'replicas', drainSeconds: 30 },
    recorded: { ...switched, since: at(-1) },
    leadsTo: 'router',
    inEffect: { router: SPLIT },
    gives: {
      weights: SPLIT,
      current: 'router',
      active: ['router', 'direct'],
      next: { ...switched, since: at(-1) },
      drainEndsAt: at(29),
    },
  },
  {
    name: 'the current provider follows new weights without a switch',
    versions: ready,
    recorded: router,
    leadsTo: 'router',
    inEffect: { router: { v1: 100 } },
    gives: { weights: SPLIT, current: 'router', active: ['router'], next: router, isSettling: true },
  },
]

for (const { name, gives, ...seen } of cases) {
  test(`routing: ${name}`, () => {
    const view = viewOfModel(seen)
    const routing = route(view, view.versions)
    assert.deepEqual(routing.weights && Object.fromEntries(routing.weights), gives.weights)
    assert.equal(routing.current.provider.name, gives.current)
    assert.deepEqual(
      routing.active.map(({ provider }) => provider.name),
      gives.active ?? [gives.current],
    )
    assert.deepEqual(routing.next, gives.next)
    assert.equal(routing.isSettling, gives.isSettling ?? false)
    const ends = routing.drainEndsAt
    assert.equal(ends === undefined ? undefined : at((ends - view.now) / 1000), gives.drainEndsAt)
  })
}
