/** How many pods each version gets, and who sets the number. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Seen, viewOfModel } from '../../../../test/sim/model-view.ts'
import { route } from './routing.ts'
import { scale, type Size } from './scale.ts'

interface Case extends Seen {
  readonly name: string
  readonly gives: Readonly<Record<string, Size>>
}

const fixed = { scaling: { minReplicas: 2, maxReplicas: 2 } }
const autoscaled = { scaling: { minReplicas: 2, maxReplicas: 5 } }
const ours = (replicas: number, floor = replicas): Size => ({ replicas, floor, isAutoscaled: false })
const replicas = { provider: 'replicas' }
const carrying = { traffic: replicas, recorded: replicas, leadsTo: 'replicas' }

const cases: readonly Case[] = [
  { name: 'a fixed number is set by us', versions: { v1: { weight: 100, ...fixed } }, gives: { v1: ours(2) } },
  {
    name: 'a fixed number is restored',
    versions: { v1: { weight: 100, available: 4, replicas: 4, ...fixed } },
    gives: { v1: ours(2) },
  },
  {
    name: 'the first number is set by us even if an autoscaler follows',
    versions: { v1: { weight: 100, ...autoscaled } },
    gives: { v1: { replicas: 2, floor: 2, isAutoscaled: true } },
  },
  {
    name: 'our number is kept until an autoscaler sets another',
    versions: { v1: { weight: 100, available: 2, replicas: 2, set: 2, ...autoscaled } },
    gives: { v1: { replicas: 2, floor: 2, isAutoscaled: true } },
  },
  {
    name: 'our number follows a raised minimum',
    versions: { v1: { weight: 100, available: 1, replicas: 1, set: 1, ...autoscaled } },
    gives: { v1: { replicas: 2, floor: 2, isAutoscaled: true } },
  },
  {
    name: 'the number of an autoscaler is left alone',
    versions: { v1: { weight: 100, available: 4, replicas: 4, set: 2, ...autoscaled } },
    gives: { v1: { floor: 2, isAutoscaled: true } },
  },
  {
    name: 'so is a number that we never set',
    versions: { v1: { weight: 100, available: 1, replicas: 1, ...autoscaled } },
    gives: { v1: { floor: 2, isAutoscaled: true } },
  },
  {
    name: 'a version that the spec no longer has is not scaled',
    versions: { v0: { available: 3, replicas: 3 }, v1: { weight: 100, ...fixed } },
    gives: { v1: ours(2), v0: { floor: 0, isAutoscaled: false } },
  },
  {
    name: 'pod counts split the traffic, and no autoscaler scales',
    versions: {
      v1: { weight: 75, available: 3, replicas: 3, scaling: { minReplicas: 4, maxReplicas: 9 } },
      v2: { weight: 25, available: 1, replicas: 1 },
    },
    ...carrying,
    gives: { v1: ours(3), v2: ours(1) },
  },
  {
    name: 'a version that grows does so at once, one that shrinks waits for it',
    versions: {
      v1: { weight: 50, available: 3, replicas: 3, scaling: { minReplicas: 4, maxReplicas: 4 } },
      v2: { weight: 50, available: 1, replicas: 1 },
    },
    ...carrying,
    gives: { v1: ours(3), v2: ours(2) },
  },
  {
    name: 'and shrinks when the pods of the other are available',
    versions: {
      v1: { weight: 50, available: 3, replicas: 3, scaling: { minReplicas: 4, maxReplicas: 4 } },
      v2: { weight: 50, available: 2, replicas: 2 },
    },
    ...carrying,
    gives: { v1: ours(2), v2: ours(2) },
  },
  {
    name: 'pods that are not available are removed first',
    versions: {
      v1: { weight: 50, available: 2, replicas: 3, scaling: { minReplicas: 4, maxReplicas: 4 } },
      v2: { weight: 50, available: 1, replicas: 1 },
    },
    ...carrying,
    gives: { v1: ours(2), v2: ours(2) },
  },
  {
    name: 'before pod counts carry the traffic no version shrinks',
    versions: {
      v1: { weight: 50, available: 5, replicas: 5, scaling: { minReplicas: 2, maxReplicas: 2 } },
      v2: { weight: 50, available: 1, replicas: 1 },
    },
    traffic: replicas,
    recorded: { provider: 'router' },
    leadsTo: 'router',
    gives: { v1: ours(5), v2: ours(1) },
  },
  {
    name: 'while pod counts are left, sizes are those of the spec',
    versions: { v1: { weight: 50, available: 1, ...fixed }, v2: { weight: 50, available: 1, ...fixed } },
    traffic: { provider: 'router' },
    recorded: { provider: 'router', previous: 'replicas' },
    leadsTo: 'router',
    inEffect: { router: { v1: 50, v2: 50 } },
    gives: { v1: ours(2), v2: ours(2) },
  },
]

for (const { name, gives, ...seen } of cases) {
  test(`scale: ${name}`, () => {
    const view = viewOfModel(seen)
    assert.deepEqual(Object.fromEntries(scale(view, route(view, view.versions))), gives)
  })
}
