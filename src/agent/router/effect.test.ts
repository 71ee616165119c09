import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseEffect } from './effect.ts'

const endpoint = (version: unknown, weight?: unknown) => ({
  metadata: { filter_metadata: { 'ml-operator': { version } } },
  ...(weight !== undefined && { load_balancing_weight: weight }),
})
const dump = (endpoints: readonly object[], route: object = { cluster: 'versions' }): string =>
  JSON.stringify({
    configs: [
      { '@type': 'x.ClustersConfigDump', version_info: 'c1' },
      {
        '@type': 'x.EndpointsConfigDump',
        dynamic_endpoint_configs: [
          { endpoint_config: { cluster_name: 'other', endpoints: [{ lb_endpoints: [endpoint('v9', 1)] }] } },
          { endpoint_config: { cluster_name: 'versions', endpoints: [{ lb_endpoints: endpoints }] } },
        ],
      },
      {
        '@type': 'x.RoutesConfigDump',
        dynamic_route_configs: [
          { version_info: 'r1', route_config: { name: 'model', virtual_hosts: [{ routes: [{ route }] }] } },
        ],
      },
    ],
  })

describe('what Envoy uses', () => {
  test('are the endpoints of the versions, in percent', () => {
    const { weights, routes, clusters } = parseEffect(dump([endpoint('v1', 90), endpoint('v2', 10)]))
    assert.deepEqual(
      [[...weights], routes, clusters],
      [
        [
          ['v1', 90],
          ['v2', 10],
        ],
        'r1',
        'c1',
      ],
    )
    assert.deepEqual([...parseEffect(dump([endpoint('v1')])).weights], [['v1', 100]])
  })

  test('are the weights of the route, if it is sticky', () => {
    const clusters = [
      { name: 'version/v1', weight: 30 },
      { name: 'version/v2', weight: 70 },
    ]
    const { weights } = parseEffect(dump([endpoint('v1', 90)], { weighted_clusters: { clusters } }))
    assert.deepEqual(
      [...weights],
      [
        ['v1', 30],
        ['v2', 70],
      ],
    )
  })

  test('is nothing before Envoy has a route; entries without a version or weight are left out', () => {
    assert.equal(parseEffect('{"configs":[]}').weights.size, 0)
    assert.deepEqual(
      [...parseEffect(dump([endpoint(7, 1), endpoint('v1', 'x'), endpoint('v2', 1)])).weights],
      [['v2', 100]],
    )
  })

  test('rejects other responses, and too many endpoints', () => {
    assert.throws(() => parseEffect('{}'), /no configuration/)
    assert.throws(() => parseEffect(dump(Array.from({ length: 1_001 }, () => endpoint('v1', 1)))), /too many/)
  })
})
