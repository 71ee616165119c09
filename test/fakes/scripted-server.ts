/** An HTTP server that misbehaves as a test specifies, and a Kubernetes client for it. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { type ClientConfig, fixedCredential } from '../../src/kube/client-config.ts'
import { type Client, type ClientOptions, createClient } from '../../src/kube/client.ts'
import type { ConfigMap } from '../../src/kube/resources.ts'

export type Respond = (response: ServerResponse, request: IncomingMessage) => void

export interface ScriptedServer {
  readonly client: Client
  readonly requests: IncomingMessage[]
  readonly sockets: Set<Socket>
}

export const key = { namespace: 'ns', name: 'x' }
export const object: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: key }

/** Starts a server and a client. The server sends the responses in order, and the last one to all further requests. */
export async function scriptedServer(
  t: TestContext,
  responses: Respond[],
  config: Partial<ClientConfig> = {},
  options: ClientOptions = {},
): Promise<ScriptedServer> {
  const requests: IncomingMessage[] = []
  const sockets = new Set<Socket>()
  const server = createServer((request, response) => {
    requests.push(request)
    request.resume()
    request.on('end', () => responses[Math.min(requests.length, responses.length) - 1]?.(response, request))
  })
  server.on('connection', (socket) => sockets.add(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const client = createClient(
    {
      server: `http://127.0.0.1:${port}`,
      namespace: 'ns',
      credentials: fixedCredential({}),
      ...config,
      ...withPort(config, port),
    },
    options,
  )
  t.after(async () => {
    await client.close()
    server.closeAllConnections()
    server.close()
  })
  return { client, requests, sockets }
}

function withPort({ server }: Partial<ClientConfig>, port: number): { server?: string } {
  return server === undefined ? {} : { server: server.replace('PORT', String(port)) }
}

export const ok: Respond = (response) => json(response, 200, object)
export const reset: Respond = (response) => response.socket?.resetAndDestroy()
export const silence: Respond = () => {}

export function json(response: ServerResponse, code: number, body: object, headers: Record<string, string> = {}): void {
  response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

export function reject(code: number, reason: string, headers: Record<string, string> = {}): Respond {
  return (response) => json(response, code, { kind: 'Status', code, reason, message: 'told to' }, headers)
}
