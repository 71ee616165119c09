/** The HTTP pages of a router. They are read-only. */
import { createServer } from 'node:http'
import { REPORT_PATH } from '../../api/router-report.ts'
import { type Answer, answerRequests, closeServer, HTTP_LIMITS, pathOf } from '../../net/http-server.ts'
import { listen } from '../../net/listening.ts'
import { metricsPage } from './metrics-page.ts'
import type { Router } from './router.ts'

export interface Pages {
  readonly port: number
  close(): Promise<void>
}

export async function servePages(port: number, router: Router): Promise<Pages> {
  const server = createServer(HTTP_LIMITS)
  answerRequests(server, (request) => answer(pathOf(request), router))
  return { port: await listen(server, { port }), close: () => closeServer(server) }
}

function answer(path: string, router: Router): Answer {
  switch (path) {
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
