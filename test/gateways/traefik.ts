import assert from 'node:assert/strict'
import { parse } from 'yaml'
import type { Cluster } from '../../testenv/cluster.ts'
import { startTraefik } from '../../testenv/traefik.ts'
import { blocksIn } from '../documents/blocks.ts'
import type { DataPlane } from './data-plane.ts'

/** Traefik, which counts requests by Service: models are judged by its series, with the queries of our documentation. */
export async function traefikPlane({ plane }: Cluster): Promise<DataPlane> {
  const traefik = await startTraefik(plane)
  const documented = blocksIn('docs/configuration.md').find(({ text }) =>
    text.includes('traefik_service_requests_total'),
  )
  assert.ok(documented)
  const { serving } = parse(documented.text) as Pick<DataPlane, 'serving'>
  return {
    controllerName: 'traefik.io/gateway-controller',
    port: traefik.port,
    targets: [{ job: 'traefik', address: traefik.metricsAddress }],
    serving,
    stop: () => traefik.stop(),
  }
}
