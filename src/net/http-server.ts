/**
 * HTTP servers for untrusted clients. No request can end the process, and the resources of a client are limited:
 * connections, requests per connection, and the time for headers, for the request and for the response. If a handler
 * throws, only its own request fails, with 500.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { limitConnections } from './connection-limit.ts'

export interface Answer {
  readonly status: number
  readonly type?: string
  readonly body: string | Uint8Array
}

export type Handler = (request: IncomingMessage, response: ServerResponse) => Answer | Promise<Answer>

/** Options for `createServer`. */
export const HTTP_LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  connectionsCheckingInterval: 2_000,
} as const

const MAX_CONNECTIONS = 512
/** A client may send requests before it has read the responses, and each request costs memory. */
const MAX_REQUESTS_PER_CONNECTION = 100
/** From the headers of a request to the last byte of its response. */
const ANSWER_TIMEOUT_MS = 30_000

export function answerRequests(server: Server, handler: Handler): void {
  server.maxRequestsPerSocket = MAX_REQUESTS_PER_CONNECTION
  limitConnections(server, MAX_CONNECTIONS)
  server.on('request', (request, response) => {
    respond(handler, request, response).catch(() => request.socket.destroy())
  })
}

/** The path of a request. Not parsed as a URL, because it may be invalid. */
export function pathOf({ url = '/' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '/'
}

/** Closes the server and all its connections at once. */
export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

async function respond(handler: Handler, request: IncomingMessage, response: ServerResponse): Promise<void> {
  request.on('error', ignore)
  response.on('error', ignore)
  const deadline = setTimeout(() => request.socket.destroy(), ANSWER_TIMEOUT_MS).unref()
  response.on('close', () => clearTimeout(deadline))
  const { status, type = 'text/plain; charset=utf-8', body } = await callHandler(handler, request, response)
  if (!response.headersSent) response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body)
}

async function callHandler(handler: Handler, request: IncomingMessage, response: ServerResponse): Promise<Answer> {
  try {
    return await handler(request, response)
  } catch (error) {
    return { status: 500, body: `${error instanceof Error ? error.message : String(error)}\n` }
  }
}

/** The client has disconnected. */
function ignore(): void {}
