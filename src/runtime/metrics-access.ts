/**
 * Who may read `/metrics`: users with a bearer token that the API server accepts and the permission `get` for the
 * nonResourceURL `/metrics`.
 */
import type { IncomingMessage } from 'node:http'
import type { Answer } from '../net/http-server.ts'
import { type Reviews, ReviewsBusy } from './reviews.ts'

/** The answer to a request that is not allowed, or undefined. */
export type Authorize = (request: IncomingMessage) => Promise<Answer | undefined>

const MAX_TOKEN = 16_384

export function metricsAccess(reviews: Pick<Reviews, 'reviewed' | 'mayAccess'>): Authorize {
  return async (request) => {
    const [, token = ''] = /^Bearer ([\w.~+/=-]+)$/i.exec(request.headers.authorization ?? '') ?? []
    if (token === '' || token.length > MAX_TOKEN) return { status: 401, body: 'send a bearer token\n' }
    try {
      const user = await reviews.reviewed(token)
      if (!user) return { status: 401, body: 'the bearer token is not valid\n' }
      if (await reviews.mayAccess(user, { path: '/metrics', verb: 'get' })) return undefined
      const fix = 'grant the verb get for the nonResourceURL /metrics'
      return { status: 403, body: `${user.username} may not read /metrics: ${fix}\n` }
    } catch (error) {
      const busy = error instanceof ReviewsBusy
      return { status: busy ? 429 : 503, body: `${busy ? error.message : 'the API server cannot review the token'}\n` }
    }
  }
}
