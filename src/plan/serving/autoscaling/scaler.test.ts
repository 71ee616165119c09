/** Who sets the number of pods, and which number, where requests are counted. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { at, type Seen, viewOfModel } from '../../../../test/sim/model-view.ts'
import { route } from '../steps/routing.ts'
import { scale, type Size } from '../steps/scale.ts'
import { METRIC_APIS } from './scaler.ts'

const { pods, external } = METRIC_APIS

interface Case extends Omit<Seen, 'versions'> {
  readonly name: string
  readonly scaling?: object
  readonly replicas?: number
  readonly set?: number
  readonly autoscaling?: object
  readonly gives: Size
}

const routed: Omit<Seen, 'versions'> = {
  traffic: { provider: 'router' },
  recorded: { provider: 'router' },
  leadsTo: 'router',
  inEffect: { router: { v1: 100 } },
  metricApis: [],
}
const byRps = { minReplicas: 1, maxReplicas: 5, targetRequestsPerSecond: 10 }
const load = (requestsPerSecond: number, more: object = {}) => ({ v1: { requestsPerSecond, proxies: 2, ...more } })
const operator = (replicas: number, byRequests: Size['byRequests'], floor = 1): Size => ({
  replicas,
  floor,
  isAutoscaled: false,
  ...(byRequests && { byRequests }),
})
const grown = { record: { replicas: 3, changes: [{ time: at(0), pods: 2 }] } }

const cases: readonly Case[] = [
  {
    name: 'a new number is recorded before it is set',
    rates: load(30),
    set: 1,
    autoscaling: { replicas: 1 },
    gives: operator(1, grown),
  },
  {
    name: 'and set by the next plan',
    rates: load(30),
    autoscaling: grown.record,
    gives: operator(3, grown),
  },
  {
    name: 'requests in progress count, and those beyond one by pod are queued',
    scaling: { minReplicas: 1, maxReplicas: 9, targetConcurrency: 8, targetQueueDepth: 3 },
    rates: load(1, { concurrency: 16 }),
    autoscaling: { replicas: 4 },
    gives: operator(4, { record: { replicas: 4 } }),
  },
  {
    name: 'a proxy that has not reported keeps the number from falling',
    rates: load(0, { proxies: 1 }),
    autoscaling: { replicas: 3 },
    gives: operator(3, { record: { replicas: 3 } }),
  },
  {
    name: 'without it, the time of the lower number is recorded',
    rates: load(0),
    autoscaling: { replicas: 3 },
    gives: operator(3, { record: { replicas: 3, lower: [{ since: at(0), replicas: 1 }] } }),
  },
  {
    name: 'figures that are not there yet change nothing',
    autoscaling: { replicas: 3 },
    gives: operator(3, { record: { replicas: 3 } }),
  },
  {
    name: 'proxies that count no requests in progress are reported',
    scaling: { minReplicas: 1, maxReplicas: 9, targetConcurrency: 8 },
    rates: load(1),
    autoscaling: { replicas: 4 },
    gives: operator(4, {
      record: { replicas: 4 },
      problem: 'the proxies of the traffic provider do not report requests in progress',
    }),
  },
  {
    name: 'the number of an autoscaler that existed before is taken over when it is gone',
    replicas: 4,
    set: 1,
    rates: load(41),
    gives: { floor: 1, isAutoscaled: false, byRequests: { record: { replicas: 4 } } },
  },
  {
    name: 'not before',
    replicas: 4,
    set: 1,
    rates: load(99),
    autoscalers: ['v1'],
    gives: { floor: 1, isAutoscaled: false, byRequests: {} },
  },
  {
    name: 'an autoscaler scales where it finds the metrics',
    metricApis: [pods],
    set: 1,
    rates: load(99),
    autoscaling: { replicas: 1 },
    gives: { replicas: 1, floor: 1, isAutoscaled: true },
  },
  {
    name: 'each target needs its own API',
    metricApis: [pods],
    scaling: { ...byRps, targetQueueDepth: 4 },
    rates: load(30, { concurrency: 1 }),
    autoscaling: { replicas: 3 },
    gives: operator(3, { record: { replicas: 3 } }),
  },
  {
    name: 'with all of them the autoscaler scales',
    metricApis: [pods, external],
    scaling: { ...byRps, targetQueueDepth: 4 },
    replicas: 3,
    gives: { floor: 1, isAutoscaled: true },
  },
  {
    name: 'without a target for requests the autoscaler scales',
    scaling: { minReplicas: 1, maxReplicas: 5 },
    replicas: 3,
    rates: load(99),
    gives: { floor: 1, isAutoscaled: true },
  },
  {
    name: 'a fixed number stays fixed',
    scaling: { minReplicas: 2, maxReplicas: 2, targetRequestsPerSecond: 1 },
    rates: load(99),
    gives: { replicas: 2, floor: 2, isAutoscaled: false },
  },
  {
    name: 'a lower maximum applies at once',
    scaling: { ...byRps, maxReplicas: 2 },
    rates: load(30),
    autoscaling: { replicas: 3 },
    gives: operator(2, { record: { replicas: 2, changes: [{ time: at(0), pods: -1 }] } }),
  },
]

for (const { name, gives, scaling = byRps, replicas = 1, set, autoscaling, ...seen } of cases)
  test(`scale by requests: ${name}`, () => {
    const own = { weight: 100, available: replicas, replicas, scaling, ...(set !== undefined && { set }) }
    const view = viewOfModel({
      ...routed,
      ...seen,
      versions: { v1: { ...own, ...(autoscaling && { recorded: { weight: 100, autoscaling } }) } },
    })
    assert.deepEqual(scale(view, route(view, view.versions)).get('v1'), gives)
  })

const unknown: readonly (readonly [what: string, autoscaling: object | undefined, isOurs: boolean])[] = [
  ['the operator goes on', { replicas: 2 }, true],
  ['an autoscaler goes on', undefined, false],
]
for (const [what, autoscaling, isOurs] of unknown)
  test(`scale by requests: while it is unknown what the cluster offers, ${what}`, () => {
    const { metricApis: _apis, ...seen } = routed
    const recorded = autoscaling && { weight: 100, autoscaling }
    const own = { weight: 100, available: 2, replicas: 2, scaling: byRps, ...(recorded && { recorded }) }
    const view = viewOfModel({ ...seen, versions: { v1: own } })
    const size = scale(view, route(view, view.versions)).get('v1')
    assert.equal(size?.byRequests !== undefined, isOurs)
  })

test('scale by requests: without a proxy an autoscaler scales', () => {
  const own = { weight: 100, available: 2, replicas: 2, scaling: byRps }
  const view = viewOfModel({ versions: { v1: own }, leadsTo: 'v1', recorded: { provider: 'direct' }, metricApis: [] })
  assert.equal(scale(view, route(view, view.versions)).get('v1')?.isAutoscaled, true)
})
