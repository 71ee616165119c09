/** The HTTPS server of `/convert`. */

import { type Answer, type Handler, pathOf } from '../net/http-server.ts'
import { type HttpsServer, startHttpsServer } from '../net/https-server.ts'
import type { Address } from '../net/listening.ts'
import { IntakeError, type IntakeLimits, ReviewIntake } from './review-intake.ts'
import { type AnswerBytes, errorResponse } from './review-bytes.ts'
import { ReviewThread } from './review-thread.ts'

/**
 * Jobs have 2 to 25 KiB, so a page of 500 fits into one review. With these limits and those of the thread, the process stays
 * below the memory limit of its container (512Mi) for any input.
 */
const LIMITS: IntakeLimits = { bodyBytes: 12 * 2 ** 20, totalBytes: 48 * 2 ** 20, reviews: 256 }

export type ConversionServer = HttpsServer

export async function startConversionServer(address: Address, limits = LIMITS): Promise<ConversionServer> {
  const thread = new ReviewThread()
  const server = await startHttpsServer(address, createHandler(new ReviewIntake(limits), thread))
  return {
    port: server.port,
    useCertificate: (leaf) => server.useCertificate(leaf),
    close: async () => {
      await server.close()
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
