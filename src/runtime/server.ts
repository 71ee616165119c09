/** One small HTTP server for the three pages that a cluster asks an operator for. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Health, HealthReport } from './health.ts'
import type { RuntimeMetrics } from './metrics.ts'

export interface ServerOptions {
  /** 0 takes any free port: see `port` of the result. */
  readonly port: number
  readonly host?: string
  readonly health: Health
  readonly metrics: RuntimeMetrics
}

export interface RunningServer {
  readonly port: number
  close(): Promise<void>
}

interface Answer {
  readonly status: number
  readonly type?: string
  readonly body: string
}

export async function serve(options: ServerOptions): Promise<RunningServer> {
  const server = createServer((request, response) => {
    void answer(options, request.url ?? '/').then(({ status, type = 'text/plain; charset=utf-8', body }) => {
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body)
    })
  })
  await listening(server, options)
  return { port: (server.address() as AddressInfo).port, close: () => closed(server) }
}

async function answer({ health, metrics }: ServerOptions, url: string): Promise<Answer> {
  try {
    switch (new URL(url, 'http://localhost').pathname) {
      case '/healthz':
        return page(health.live())
      case '/readyz':
        return page(health.ready())
      case '/metrics':
        return { status: 200, type: metrics.registry.contentType, body: await metrics.registry.metrics() }
      default:
        return { status: 404, body: 'not found\n' }
    }
  } catch (error) {
    return { status: 500, body: `${String(error)}\n` }
  }
}

function page({ ok, lines }: HealthReport): Answer {
  return { status: ok ? 200 : 503, body: `${[...lines, ok ? 'ok' : 'not ok'].join('\n')}\n` }
}

function listening(server: Server, { port, host }: ServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
