import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseActive, parseStatistics } from './statistics.ts'

const PAGE = `# TYPE envoy_tries_ended counter
envoy_tries_ended{version="v1.5",code="200",flags="-"} 18
envoy_tries_ended{version="v1.5",code="404",flags="-"} 1
envoy_tries_ended{version="v1.5",code="500",flags="-"} 2
envoy_tries_ended{version="v2",code="0",flags="UF"} 3
envoy_tries_ended{version="v2",code="0",flags="UC"} 4
envoy_tries_ended{version="v2",code="0",flags="-"} 5
envoy_tries_ended{version="-",code="503",flags="UH"} 9
envoy_tries_ms{version="v1.5"} 62
envoy_tries_latency_bucket{version="v1.5",le="1"} 15
envoy_tries_latency_bucket{version="v1.5",le="+Inf"} 21
envoy_tries_latency_sum{version="v1.5"} 62.5
envoy_cluster_upstream_rq_completed{envoy_cluster_name="version/v3"} 100
envoy_http_downstream_rq_active{envoy_http_conn_manager_prefix="model"} 4
`

describe('the statistics of Envoy', () => {
  const totals = parseStatistics(PAGE)

  test('count responses of 5xx as errors, and other responses as requests', () => {
    const { requests, errors, latencyMsSum, buckets } = totals.get('v1.5') ?? assert.fail()
    assert.deepEqual([requests, errors, latencyMsSum], [21, 2, 62])
    assert.deepEqual(
      [...buckets],
      [
        [1, 15],
        [Infinity, 21],
      ],
    )
  })

  test('count failed connections and servers that end, but not clients that go away, as errors', () => {
    const { requests, errors } = totals.get('v2') ?? assert.fail()
    assert.deepEqual([requests, errors], [12, 7])
  })

  test('have no version for requests that reached none', () => {
    assert.deepEqual([...totals.keys()].toSorted(), ['v1.5', 'v2'])
  })

  test('list the requests that are being answered', () => {
    assert.deepEqual([parseActive(PAGE), parseActive('')], [4, 0])
  })

  test('skips lines that are not samples, and rejects a page that is too long', () => {
    assert.equal(parseStatistics('garbage\nenvoy_tries_ms{version="v1"} NaN\n').size, 0)
    assert.throws(() => parseStatistics('\n'.repeat(200_000)), /too many/)
  })
})
