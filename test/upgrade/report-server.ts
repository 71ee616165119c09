/** Serves the reports of fake routers to operators that run as processes; see `test/client/redirect-reports.ts`. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Kubelet } from '../fakes/kubelet.ts'
import type { FakeRouters } from '../fakes/routers.ts'
import { servingRoleOf } from '../builders/model-deployment.ts'

export interface ReportServer {
  readonly port: number
  close(): void
}

/** Fake pods of one model can share an address; their routers then report the same. */
export async function serveReports(kubelet: Kubelet, routers: FakeRouters): Promise<ReportServer> {
  const answer = async ({ headers }: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [address] = (headers.host ?? '').split(':')
    const pods = kubelet.pods.filter((pod) => servingRoleOf(pod) === 'router' && pod.status?.podIP === address)
    const [report] = (await routers.read(pods)).values()
    response.statusCode = report ? 200 : 503
    response.end(JSON.stringify(report ?? {}))
  }
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = (): void => {
    server.close()
    server.closeAllConnections()
  }
  return { port: (server.address() as AddressInfo).port, close }
}
