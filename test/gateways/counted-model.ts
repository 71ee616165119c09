/** A model whose servers count their requests for Prometheus: each version answers with its name, and fails as its environment says. */
import { OPERATOR_IMAGE } from '../../images/operator.ts'
import type { ModelServer } from '../../src/api/modelserver.v1.ts'

export const COUNTED_RUNTIME = 'counted'

/** `ERRORS` of 100 requests fail. `/metrics` has the series of an instrumented FastAPI server. */
const SERVER = `
const { ERRORS = '0', MODEL_VERSION } = process.env
const statuses = {}
let [count, seconds] = [0, 0]
const page = () => [
  ...Object.entries(statuses).map(([status, n]) => 'http_requests_total{handler="/predict",status="' + status + '"} ' + n),
  'http_request_duration_seconds_sum{handler="/predict"} ' + seconds,
  'http_request_duration_seconds_count{handler="/predict"} ' + count,
].map((line) => line + '\\n').join('')
require('node:http').createServer((request, response) => {
  request.resume()
  if (request.url === '/health') return response.end()
  if (request.url === '/metrics') return response.end(page())
  count += 1
  if (count % 100 < Number(ERRORS)) response.statusCode = 500
  const from = performance.now()
  response.on('finish', () => {
    seconds += (performance.now() - from) / 1000
    statuses[response.statusCode] = (statuses[response.statusCode] ?? 0) + 1
  })
  response.end(MODEL_VERSION)
}).listen(8080)
process.on('SIGTERM', () => process.exit())
`

/** As users write it: the API server adds the defaults. */
export const countedServer = (namespace: string) =>
  ({
    apiVersion: 'ml.example.com/v1',
    kind: 'ModelServer',
    metadata: { namespace, name: COUNTED_RUNTIME },
    spec: {
      image: OPERATOR_IMAGE,
      port: 8080,
      command: ['/usr/local/bin/node', '-e', SERVER],
      probes: { readiness: { path: '/health', periodSeconds: 1 } },
    },
  }) as unknown as ModelServer

/** A version with all traffic. */
export const countedVersion = (name: string, env: Readonly<Record<string, string>> = {}) => ({
  name,
  weight: 100,
  modelPath: '/app/package.json',
  env: Object.entries(env).map(([key, value]) => ({ name: key, value })),
})
