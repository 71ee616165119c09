/** Which host names and gateways of a model reach a route, whatever a stored object says. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { hostnameProblem } from '../../api/hostnames.ts'
import { ServingCluster, version } from '../../../test/sim/serving-cluster.ts'
import { calm } from '../../../test/sim/serving-history.ts'
import { getCondition } from '../../api/conditions.ts'
import { planServing } from '../serving/index.ts'
import { exposureOf } from './exposure.ts'
import type { HTTPRoute } from './providers/gateway/kinds.ts'
import type { VirtualService } from './providers/istio/kinds.ts'

const gateways = ['public']
const rules = [
  { namespaces: ['team-a'], hostnames: ['*.team-a.example.com', 'exact.example.org'] },
  { namespaces: ['*'], hostnames: ['*.shared.example.com'] },
]

describe('a host name', () => {
  const claimed = [
    'payments.prod.svc.cluster.local',
    'payments.prod.svc',
    'payments.prod.svc.corp.internal',
    '*.prod.svc.cluster.local',
    '*.svc.cluster.local',
    '*.cluster.local',
    'cluster.local',
    '10-0-0-1.prod.pod.cluster.local',
    'payments',
    'localhost',
    'model.localhost',
    '*',
    '*.com',
    '10.0.0.1',
    '127.0.0.0x1',
    '0x7f000001',
  ]
  for (const hostname of claimed) {
    test(`${hostname} is omitted`, () => {
      assert.match(hostnameProblem(hostname) ?? '', /^spec\.traffic\.hostnames .*: use a public name/)
      assert.deepEqual(Object.keys(exposureOf({ gateways, hostnames: [hostname] }, 'team-a', [])), ['problem'])
    })
  }
  for (const hostname of ['model.example.com', '*.example.com', 'svc.example.com', 'v1.local.example', '1.example.com'])
    test(`${hostname} is public`, () => assert.equal(hostnameProblem(hostname), undefined))
})

describe('rules of the administrator', () => {
  const table: readonly (readonly [string, string, boolean])[] = [
    ['team-a', 'm.team-a.example.com', true],
    ['team-a', 'a.b.team-a.example.com', true],
    ['team-a', '*.team-a.example.com', true],
    ['team-a', 'exact.example.org', true],
    ['team-a', 'x.shared.example.com', true],
    ['team-a', 'team-a.example.com', false],
    ['team-a', 'm.evil-team-a.example.com', false],
    ['team-a', '*.example.com', false],
    ['team-a', 'm.team-b.example.com', false],
    ['team-b', 'm.team-a.example.com', false],
    ['team-b', 'x.shared.example.com', true],
  ]
  for (const [namespace, hostname, isAllowed] of table) {
    test(`${namespace} ${isAllowed ? 'may' : 'may not'} use ${hostname}`, () => {
      const { hostnames, problem } = exposureOf({ gateways, hostnames: [hostname] }, namespace, rules)
      assert.deepEqual(hostnames, isAllowed ? [hostname] : undefined)
      if (!isAllowed) assert.ok(problem?.includes(hostname) && problem.includes('serving.allowedHostnames'))
    })
  }

  test('keep what is allowed of several, and name the rest', () => {
    const hostnames = ['m.team-a.example.com', 'm.team-b.example.com']
    const { problem, ...exposure } = exposureOf({ gateways, hostnames }, 'team-a', rules)
    assert.deepEqual(exposure, { gateways, hostnames: ['m.team-a.example.com'] })
    assert.match(problem ?? '', /m\.team-b\.example\.com is not allowed/)
  })

  test('a route for every host needs a rule for every host', () => {
    assert.deepEqual(exposureOf({ gateways }, 'team-a', []), { gateways })
    assert.deepEqual(Object.keys(exposureOf({ gateways }, 'team-a', rules)), ['problem'])
  })

  test('neither the mesh nor no gateway carries host names', () => {
    const hostnames = ['model.example.com']
    for (const some of [{ hostnames }, { gateways: ['mesh'], hostnames }, { gateways: ['mesh'] }])
      assert.deepEqual(Object.keys(exposureOf(some, 'team-a', [])), ['problem'])
    assert.deepEqual(exposureOf({ gateways: ['mesh', 'public'], hostnames }, 'team-a', []), { gateways, hostnames })
  })
})

describe('a stored model that asks for hosts of others', () => {
  const two = [version('v1', 60), version('v2', 40)]
  const served = (traffic: object, offers: readonly string[]): ServingCluster => {
    const cluster = new ServingCluster(planServing, () => undefined, { spec: { versions: two, traffic }, offers })
    assert.ok(calm(cluster, 60))
    return cluster
  }
  const hostnames = ['payments.prod.svc.cluster.local', 'model.example.com']

  test('istio: the mesh gets the own host, named gateways the public one', () => {
    const cluster = served({ provider: 'istio', gateways: ['mesh', 'public'], hostnames }, ['istio'])
    const routes = cluster.of<VirtualService>('VirtualService').map(({ metadata, spec }) => {
      const { http: _http, ...reach } = spec
      return [metadata.name, reach]
    })
    assert.deepEqual(Object.fromEntries(routes), {
      'iris-vs': { hosts: ['iris-service'], exportTo: ['.'] },
      'iris-vs-gateways': { hosts: ['model.example.com'], gateways: ['public'], exportTo: ['*'] },
    })
    const progressing = getCondition(cluster.model.status?.conditions, 'Progressing')
    assert.equal(progressing?.reason, 'HostnameNotAllowed')
    assert.match(progressing?.message ?? '', /^payments\.prod\.svc\.cluster\.local: /)
  })

  test('istio: without a named gateway no host of a user is in any object', () => {
    const cluster = served({ provider: 'istio', hostnames }, ['istio'])
    assert.deepEqual(
      cluster.of<VirtualService>('VirtualService').map(({ spec }) => spec.hosts),
      [['iris-service']],
    )
  })

  test('gateway: the route has the public host; with none allowed its parent is no Gateway', () => {
    const offers = ['gateway']
    const [route] = served({ provider: 'gateway', gateways, hostnames }, offers).of<HTTPRoute>('HTTPRoute')
    assert.deepEqual(route?.spec.hostnames, ['model.example.com'])
    const denied = served({ provider: 'gateway', gateways, hostnames: hostnames.slice(0, 1) }, offers)
    const [internal] = denied.of<HTTPRoute>('HTTPRoute')
    assert.deepEqual(
      internal?.spec.parentRefs?.map(({ kind, name }) => [kind, name]),
      [['Service', 'iris-service']],
    )
    assert.equal(internal.spec.hostnames, undefined)
  })
})
