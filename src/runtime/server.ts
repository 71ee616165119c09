/** The HTTP server for health checks and metrics. */
import { createServer } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import type { Registry } from 'prom-client'
import { type Answer, answerRequests, closeServer, HTTP_LIMITS, pathOf } from '../net/http-server.ts'
import { listen } from '../net/listening.ts'
import type { Health, HealthReport } from './health.ts'
import type { Authorize } from './metrics-access.ts'
import type { RuntimeMetrics } from './metrics.ts'

export interface ServerOptions {
  /** 0 chooses a free port: see `port` of the result. */
  readonly port: number
  readonly host?: string
  readonly health: Health
  readonly metrics: RuntimeMetrics
  /** Decides who may read /metrics. Default: everyone. */
  readonly authorizeMetrics?: Authorize | undefined
}

export interface RunningServer {
  readonly port: number
  close(): Promise<void>
}

export async function serve(options: ServerOptions): Promise<RunningServer> {
  const { health, metrics, authorizeMetrics } = options
  const metricsPage = shareCalls(() => pageOf(metrics.registry))
  const server = createServer(HTTP_LIMITS)
  answerRequests(server, async (request): Promise<Answer> => {
    switch (pathOf(request)) {
      case '/healthz':
        return page(health.live())
      case '/readyz':
        return page(health.ready())
      case '/metrics':
        return (
          (await authorizeMetrics?.(request)) ?? {
            status: 200,
            type: metrics.registry.contentType,
            body: await metricsPage(),
          }
        )
      default:
        return { status: 404, body: 'not found\n' }
    }
  })
  return { port: await listen(server, options), close: () => closeServer(server) }
}

/** Yields to the event loop after each metric: a page with many series does not block it as a whole. */
async function pageOf(registry: Registry): Promise<string> {
  const parts: string[] = []
  for (const name of registry.getMetricsAsArray().map((metric) => metric.name)) {
    parts.push(await registry.getSingleMetricAsString(name))
    await turn()
  }
  return `${parts.join('\n\n')}\n`
}

/** Concurrent calls share one result: a hundred concurrent scrapes cost as much as one. */
function shareCalls<T>(make: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined
  return () => (running ??= make().finally(() => (running = undefined)))
}

function page({ ok, lines }: HealthReport): Answer {
  return { status: ok ? 200 : 503, body: `${[...lines, ok ? 'ok' : 'not ok'].join('\n')}\n` }
}
