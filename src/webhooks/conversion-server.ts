/**
 * The HTTPS server behind `/convert`. It listens at once and refuses handshakes until it has been given a certificate.
 * A new certificate is shown from the next connection on; a connection that stands is asked to end after its next
 * answer, so that nobody talks for long to a certificate that has been replaced, and no call fails for it.
 */

import { createServer, type Server } from 'node:https'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { finished } from 'node:stream/promises'
import type { KeyPair } from '../kube/x509.ts'
import { answerReview } from './conversion-review.ts'

/** A page of a list comes as one review: 500 objects of the largest size that etcd takes would be more than this. */
const MAX_BODY_BYTES = 256 * 2 ** 20
const REQUEST_TIMEOUT_MS = 30_000

export interface ConversionServer {
  readonly port: number
  useCertificate(leaf: KeyPair): void
  /** Finishes the answers under way, then ends every connection. */
  close(): Promise<void>
}

export async function startConversionServer(address: {
  readonly port: number
  readonly host?: string
}): Promise<ConversionServer> {
  /** Connections that were greeted with the certificate in use. */
  let current = new WeakSet<Socket>()
  const underWay = new Set<Promise<void>>()
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS, minVersion: 'TLSv1.2' }, (request, response) => {
    if (!current.has(request.socket)) response.setHeader('connection', 'close')
    const answering = respond(request, response).finally(() => underWay.delete(answering))
    underWay.add(answering)
  })
  server.on('secureConnection', (socket) => current.add(socket))
  const port = await listening(server, address)
  return {
    port,
    useCertificate({ cert, key }) {
      current = new WeakSet()
      server.setSecureContext({ cert, key })
    },
    close: () => closed(server, underWay),
  }
}

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { status, body } = await answer(request)
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  await finished(response).catch(() => undefined) // the caller has hung up
}

interface Answer {
  readonly status: number
  readonly body: unknown
}

const refusal = (status: number, message: string): Answer => ({ status, body: { message } })

async function answer(request: IncomingMessage): Promise<Answer> {
  const { pathname } = new URL(request.url ?? '/', 'https://localhost')
  if (pathname !== '/convert') return refusal(404, 'the only path is /convert')
  if (request.method !== 'POST') return refusal(405, 'POST a ConversionReview')
  try {
    const text = await bodyOf(request)
    return text === undefined
      ? refusal(413, 'the review is too large')
      : { status: 200, body: answerReview(JSON.parse(text)) }
  } catch {
    return refusal(400, 'the body is not JSON')
  }
}

/** The whole body, or undefined when it is larger than we are willing to hold. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size > MAX_BODY_BYTES) return undefined
    chunks.push(bytes)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function listening(server: Server, { port, host }: { readonly port: number; readonly host?: string }): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : port)
    })
  })
}

/** Callers open connections that they may never use: waiting for those would take as long as their patience. */
async function closed(server: Server, underWay: ReadonlySet<Promise<void>>): Promise<void> {
  const end = new Promise<void>((resolve) => void server.close(() => resolve()))
  await Promise.all(underWay)
  server.closeAllConnections()
  await end
}
