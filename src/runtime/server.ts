/** The HTTP server for health checks and metrics. */
import { createServer } from 'node:http'
import { type Answer, answerRequests, closeServer, HTTP_LIMITS, pathOf } from '../net/http-server.ts'
import { listen } from '../net/listening.ts'
import type { Health, HealthReport } from './health.ts'
import type { RuntimeMetrics } from './metrics.ts'

export interface ServerOptions {
  /** 0 chooses a free port: see `port` of the result. */
  readonly port: number
  readonly host?: string
  readonly health: Health
  readonly metrics: RuntimeMetrics
}

export interface RunningServer {
  readonly port: number
  close(): Promise<void>
}

export async function serve(options: ServerOptions): Promise<RunningServer> {
  const { health, metrics } = options
  const metricsPage = shareCalls(() => metrics.registry.metrics())
  const server = createServer(HTTP_LIMITS)
  answerRequests(server, async (request): Promise<Answer> => {
    switch (pathOf(request)) {
      case '/healthz':
        return page(health.live())
      case '/readyz':
        return page(health.ready())
      case '/metrics':
        return { status: 200, type: metrics.registry.contentType, body: await metricsPage() }
      default:
        return { status: 404, body: 'not found\n' }
    }
  })
  return { port: await listen(server, options), close: () => closeServer(server) }
}

/** Concurrent calls share one result: a hundred concurrent scrapes cost as much as one. */
function shareCalls<T>(make: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined
  return () => (running ??= make().finally(() => (running = undefined)))
}

function page({ ok, lines }: HealthReport): Answer {
  return { status: ok ? 200 : 503, body: `${[...lines, ok ? 'ok' : 'not ok'].join('\n')}\n` }
}
