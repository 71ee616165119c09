import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { clustersOf, type Destination, endpointsOf, routesOf } from './resources.ts'

const at = (version: string, weight: number): Destination => ({ version, ip: '10.0.0.1', port: 80, weight })

interface Endpoints {
  readonly resources: readonly [
    {
      readonly endpoints: readonly {
        readonly lb_endpoints: readonly {
          readonly load_balancing_weight: number
          readonly metadata: { readonly filter_metadata: Record<string, { readonly version: string }> }
        }[]
      }[]
    },
  ]
}

interface Header {
  readonly name: string
  readonly string_match: { readonly exact?: string; readonly safe_regex?: { readonly regex: string } }
}

interface ParsedRoute {
  readonly match: { readonly headers?: readonly Header[] }
  readonly route: {
    readonly cluster?: string
    readonly retry_policy: { readonly retry_on: string }
    readonly request_mirror_policies?: readonly { readonly cluster: string }[]
    readonly weighted_clusters?: object
    readonly hash_policy?: readonly object[]
  }
}

interface Routes {
  readonly resources: readonly [{ readonly virtual_hosts: readonly [{ readonly routes: readonly ParsedRoute[] }] }]
}

const routes = (...given: Parameters<typeof routesOf>) =>
  (JSON.parse(routesOf(...given).text) as Routes).resources[0].virtual_hosts[0].routes

describe('the files of Envoy', () => {
  test('have every version with weight as an endpoint of that weight, and no other', () => {
    const destinations = fc.uniqueArray(
      fc.record({ version: fc.constantFrom('v1', 'v2', 'v3'), weight: fc.nat(100) }, { noNullPrototype: true }),
      { selector: ({ version }) => version },
    )
    fc.assert(
      fc.property(destinations, (list) => {
        const { text } = endpointsOf(list.map(({ version, weight }) => at(version, weight)))
        const [{ endpoints }] = (JSON.parse(text) as Endpoints).resources
        const found = endpoints.flatMap(({ lb_endpoints }) => lb_endpoints)
        assert.deepEqual(
          found.map(({ metadata, load_balancing_weight }) => [
            metadata.filter_metadata['ml-operator']?.version,
            load_balancing_weight,
          ]),
          list.filter(({ weight }) => weight > 0).map(({ version, weight }) => [version, weight]),
        )
      }),
    )
  })

  test('have another version for other content, and the same for the same', () => {
    const one = endpointsOf([at('v1', 100)])
    assert.equal(one.version, endpointsOf([at('v1', 100)]).version)
    assert.notEqual(one.version, endpointsOf([{ ...at('v1', 100), ip: '10.0.0.2' }]).version)
  })

  test('retry failed connections only', () => {
    const rules = { match: [{ version: 'v1', header: { name: 'x', value: 'y' } }] }
    for (const { route } of routes({ destinations: [at('v1', 100)], rules }))
      assert.equal(route.retry_policy.retry_on, 'connect-failure')
  })

  test('send matching requests to their version, in order, and copies of the others', () => {
    const destinations = [at('v1', 100), at('v2', 0)]
    const rules = {
      mirror: { version: 'v2', percent: 25 },
      match: [
        { version: 'v2', header: { name: 'x-tester', value: 'yes' } },
        { version: 'v2', cookie: { name: 'beta', value: 'a.b' } },
        { version: 'gone', header: { name: 'x', value: 'y' } },
      ],
    }
    const [header, cookie, rest, ...others] = routes({ destinations, rules })
    assert.deepEqual(others, [])
    assert.deepEqual(header?.match.headers, [{ name: 'x-tester', string_match: { exact: 'yes' } }])
    assert.equal(header?.route.cluster, 'version/v2')
    assert.equal(header?.route.request_mirror_policies, undefined)
    const pattern = new RegExp(`^${cookie?.match.headers?.[0]?.string_match.safe_regex?.regex}$`)
    const hits = ['beta=a.b', 'x=1; beta=a.b', 'beta=a.b; x=1', 'xbeta=a.b', 'beta=aXb', 'beta=a.bc', 'x=beta=a.b']
    assert.deepEqual(
      hits.map((text) => pattern.test(text)),
      [true, true, true, false, false, false, false],
    )
    assert.equal(rest?.route.cluster, 'versions')
    assert.deepEqual(
      rest?.route.request_mirror_policies?.map(({ cluster }) => cluster),
      ['version/v2'],
    )
    const clusters = JSON.parse(clustersOf({ destinations, rules }).text) as { resources: { name: string }[] }
    assert.deepEqual(
      clusters.resources.map(({ name }) => name),
      ['version/v2'],
    )
  })

  test('split by the hash of a cookie or header, if requests have to stay with a version', () => {
    const destinations = [at('v1', 90), at('v2', 10), at('v3', 0)]
    const [rest] = routes({ destinations, rules: { stickiness: { cookie: 'user' } } })
    assert.deepEqual(rest?.route.weighted_clusters, {
      clusters: [
        { name: 'version/v1', weight: 90 },
        { name: 'version/v2', weight: 10 },
      ],
      use_hash_policy: true,
    })
    assert.deepEqual(rest?.route.hash_policy, [{ cookie: { name: 'user' } }])
    const [byHeader] = routes({ destinations, rules: { stickiness: { header: 'x-user' } } })
    assert.deepEqual(byHeader?.route.hash_policy, [{ header: { header_name: 'x-user' } }])
  })
})
