/** A page of model servers, as Prometheus scrapes it: requests, errors and latencies of versions that grow with each scrape. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Behaviour {
  /** Percent of the requests. */
  readonly errors: number
  readonly latencyMs: number
}

export interface ModelPage {
  readonly address: string
  readonly behaviours: Map<string, Behaviour>
  close(): void
}

const PER_SCRAPE = 50
const BOUNDS = ['0.01', '0.1', '1', '+Inf']

/** One line for each series of a version. */
function linesOf(labels: string, requests: number, { errors, latencyMs }: Behaviour): string[] {
  const failed = Math.round((requests * errors) / 100)
  const seconds = latencyMs / 1000
  const bucket = (bound: string): number => (bound === '+Inf' || seconds <= Number(bound) ? requests : 0)
  return [
    `http_requests_total{${labels},handler="/predict",status="200"} ${requests - failed}`,
    `http_requests_total{${labels},handler="/predict",status="500"} ${failed}`,
    `http_requests_total{${labels},handler="/health",status="500"} ${10 * requests}`,
    `http_request_duration_seconds_sum{${labels},handler="/predict"} ${requests * seconds}`,
    ...BOUNDS.map(
      (le) => `http_request_duration_seconds_bucket{${labels},handler="/predict",le="${le}"} ${bucket(le)}`,
    ),
    `model_accuracy{${labels}} ${errors > 0 ? 0.5 : 0.99}`,
  ]
}

export async function serveModelPage(
  namespace: string,
  model: string,
  versions: readonly string[],
): Promise<ModelPage> {
  const behaviours = new Map<string, Behaviour>()
  let scrapes = 0
  const server = createServer((_, response) => {
    scrapes += 1
    const lines = [namespace, 'other'].flatMap((ns) =>
      versions.flatMap((version) => {
        const labels = `namespace="${ns}",model="${model}",version="${version}"`
        // The same model of another namespace fails always.
        const own = behaviours.get(version) ?? { errors: 0, latencyMs: 5 }
        return linesOf(labels, scrapes * PER_SCRAPE, ns === namespace ? own : { errors: 100, latencyMs: 900 })
      }),
    )
    response.end(lines.map((line) => `${line}\n`).join(''))
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    behaviours,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
