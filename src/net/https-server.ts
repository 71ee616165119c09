/**
 * An HTTPS server whose certificate can change. It listens at once, but rejects handshakes until it has a certificate. New
 * connections use a new certificate; existing ones are closed after their next response, so that a replaced certificate is
 * not used for long and no call fails.
 */

import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { Socket } from 'node:net'
import { answerRequests, type Handler, HTTP_LIMITS } from './http-server.ts'
import { type Address, listen } from './listening.ts'

const HANDSHAKE_TIMEOUT_MS = 10_000

/** PEM. */
export interface ServerCertificate {
  readonly cert: string
  readonly key: string
}

export interface HttpsServer {
  readonly port: number
  useCertificate(leaf: ServerCertificate): void
  /** Finishes running requests, then closes all connections. */
  close(): Promise<void>
}

export async function startHttpsServer(address: Address, handler: Handler): Promise<HttpsServer> {
  /** Connections that use the current certificate. */
  let current = new WeakSet<Socket>()
  const running = new Set<ServerResponse>()
  const server = createServer({ ...HTTP_LIMITS, handshakeTimeout: HANDSHAKE_TIMEOUT_MS, minVersion: 'TLSv1.2' })
  server.on('request', (request, response) => {
    if (!current.has(request.socket)) response.setHeader('connection', 'close')
    running.add(response)
    response.on('close', () => running.delete(response))
  })
  answerRequests(server, handler)
  server.on('secureConnection', (socket) => current.add(socket))
  const port = await listen(server, address)
  return {
    port,
    useCertificate({ cert, key }) {
      current = new WeakSet()
      server.setSecureContext({ cert, key })
    },
    close: () => closeServer(server, running),
  }
}

/** Waits for running requests, not for idle connections, which clients may keep open for long. */
async function closeServer(server: Server, running: ReadonlySet<ServerResponse>): Promise<void> {
  const end = new Promise<void>((resolve) => void server.close(() => resolve()))
  await Promise.all([...running].map((response) => once(response, 'close')))
  server.closeAllConnections()
  await end
}
