/**
 * The HTTPS server of `/convert`. It listens at once, but rejects handshakes until it has a certificate. New connections
 * use a new certificate; existing ones are closed after their next response, so that a replaced certificate is not used
 * for long and no call fails.
 */

import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { Socket } from 'node:net'
import type { KeyPair } from '../kube/x509.ts'
import { type Answer, answerRequests, type Handler, HTTP_LIMITS, pathOf } from '../net/http-server.ts'
import { type Address, listen } from '../net/listening.ts'
import { IntakeError, type IntakeLimits, ReviewIntake } from './review-intake.ts'
import { type AnswerBytes, errorResponse } from './review-bytes.ts'
import { ReviewThread } from './review-thread.ts'

const HANDSHAKE_TIMEOUT_MS = 10_000

/**
 * Jobs have 2 to 25 KiB, so a page of 500 fits into one review. With these limits and those of the thread, the process stays
 * below the memory limit of its container (512Mi) for any input.
 */
const LIMITS: IntakeLimits = { bodyBytes: 12 * 2 ** 20, totalBytes: 48 * 2 ** 20, reviews: 256 }

export interface ConversionServer {
  readonly port: number
  useCertificate(leaf: KeyPair): void
  /** Finishes running requests, then closes all connections. */
  close(): Promise<void>
}

export async function startConversionServer(address: Address, limits = LIMITS): Promise<ConversionServer> {
  /** Connections that use the current certificate. */
  let current = new WeakSet<Socket>()
  const running = new Set<ServerResponse>()
  const server = createServer({ ...HTTP_LIMITS, handshakeTimeout: HANDSHAKE_TIMEOUT_MS, minVersion: 'TLSv1.2' })
  server.on('request', (request, response) => {
    if (!current.has(request.socket)) response.setHeader('connection', 'close')
    running.add(response)
    response.on('close', () => running.delete(response))
  })
  const thread = new ReviewThread()
  answerRequests(server, createHandler(new ReviewIntake(limits), thread))
  server.on('secureConnection', (socket) => current.add(socket))
  const port = await listen(server, address)
  return {
    port,
    useCertificate({ cert, key }) {
      current = new WeakSet()
      server.setSecureContext({ cert, key })
    },
    close: async () => {
      await closeServer(server, running)
      await thread.close()
    },
  }
}

const json = ({ status, body }: AnswerBytes): Answer => ({ status, type: 'application/json', body })

function createHandler(intake: ReviewIntake, thread: ReviewThread): Handler {
  return async (request, response) => {
    if (pathOf(request) !== '/convert') return json(errorResponse(404, 'not found: use /convert'))
    if (request.method !== 'POST') return json(errorResponse(405, 'method not allowed: POST a ConversionReview'))
    try {
      return json(await intake.take(request, response, (body) => thread.convert(body, () => !response.destroyed)))
    } catch (error) {
      if (!(error instanceof IntakeError)) throw error
      response.setHeader('connection', 'close') // the rest of the body is not read
      return json(errorResponse(error.status, error.message))
    }
  }
}

/** Waits for running requests, not for idle connections, which clients may keep open for long. */
async function closeServer(server: Server, running: ReadonlySet<ServerResponse>): Promise<void> {
  const end = new Promise<void>((resolve) => void server.close(() => resolve()))
  await Promise.all([...running].map((response) => once(response, 'close')))
  server.closeAllConnections()
  await end
}
