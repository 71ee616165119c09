/** What a router tells over HTTP: reading only, there is nothing here to order. */
import { createServer } from 'node:http'
import { REPORT_PATH } from '../../api/router-report.ts'
import { listening } from './listening.ts'
import { metricsPage } from './metrics-page.ts'
import type { Router } from './router.ts'

export interface Pages {
  readonly port: number
  close(): Promise<void>
}

interface Answer {
  readonly status: number
  readonly type?: string
  readonly body: string
}

export async function servePages(port: number, router: Router): Promise<Pages> {
  const server = createServer((request, response) => {
    const { status, type = 'text/plain; charset=utf-8', body } = answer(request.url ?? '/', router)
    response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body)
  })
  return {
    port: await listening(server, port),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function answer(url: string, router: Router): Answer {
  switch (url.replace(/\?.*/, '')) {
    case REPORT_PATH:
      return { status: 200, type: 'application/json', body: JSON.stringify(router.report()) }
    case '/metrics':
      return { status: 200, type: 'text/plain; version=0.0.4; charset=utf-8', body: metricsPage(router.report()) }
    case '/readyz':
      return router.isReady ? { status: 200, body: 'ok\n' } : { status: 503, body: 'no version gets traffic yet\n' }
    case '/healthz':
      return { status: 200, body: 'ok\n' }
    default:
      return { status: 404, body: 'not found\n' }
  }
}
