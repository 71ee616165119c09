/**
 * Asks the API server who a bearer token belongs to, and what that user may do.
 *
 * Guarantees
 * - Answers are cached: positive ones for `yesMs`, negative ones for ten seconds, at most `maxEntries` of each kind. So a
 *   revoked token or permission is accepted for up to `yesMs`.
 * - Concurrent questions about the same token or permission become one call. At most `maxCalls` calls run at a time, so
 *   that requests with random tokens cannot load the API server; further ones fail with `ReviewsBusy`.
 * - Tokens are not stored: the cache is keyed by their digest. An error of the API server is thrown and not cached.
 */
import { createHash } from 'node:crypto'
import type { Client } from '../kube/client.ts'
import { TokenReview } from '../kube/resources.ts'
import type { Clock } from './clock.ts'
import { ExpiringCache } from './expiring-cache.ts'

export interface ReviewedUser {
  readonly username: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** A path that is not a resource, such as `/metrics`. */
export interface UrlAccess {
  readonly path: string
  readonly verb: string
}

export class ReviewsBusy extends Error {
  override readonly name = 'ReviewsBusy'
}

type Answer<V> = { readonly is: V } | { readonly is?: never }

export interface ReviewLimits {
  readonly yesMs: number
  readonly maxEntries: number
  readonly maxCalls: number
}

const DEFAULT_LIMITS: ReviewLimits = { yesMs: 60_000, maxEntries: 1_000, maxCalls: 16 }
const NO_MS = 10_000
const TIMEOUT_MS = 5_000

export class Reviews {
  readonly #client: Pick<Client, 'create' | 'request'>
  readonly #limits: ReviewLimits
  readonly #users: ExpiringCache<Answer<ReviewedUser>>
  readonly #permissions: ExpiringCache<Answer<true>>
  readonly #running = new Map<string, Promise<unknown>>()

  constructor(client: Pick<Client, 'create' | 'request'>, clock: Clock, limits: ReviewLimits = DEFAULT_LIMITS) {
    this.#client = client
    this.#limits = limits
    this.#users = new ExpiringCache(clock, limits.maxEntries)
    this.#permissions = new ExpiringCache(clock, limits.maxEntries)
  }

  /** The user of a token for one of these audiences; default: those of the API server. Undefined if it is not valid. */
  async reviewed(token: string, audiences: readonly string[] = []): Promise<ReviewedUser | undefined> {
    const key = digest('token', [token, audiences])
    const { is } = await this.#cached(key, this.#users, async () => {
      const { authenticated, user, audiences: valid = [] } = await this.#reviewToken(token, audiences)
      const isMeant = audiences.length === 0 || valid.some((audience) => audiences.includes(audience))
      return authenticated === true && user?.username !== undefined && isMeant ? { is: user } : {}
    })
    return is
  }

  /** Whether the user may access the path. */
  async mayAccess(user: ReviewedUser, access: UrlAccess): Promise<boolean> {
    const { username, uid, groups, extra } = user
    const spec = { user: username, uid, groups, extra, nonResourceAttributes: access }
    const { is } = await this.#cached(digest('access', spec), this.#permissions, async () => {
      return (await this.#isAllowed(spec)) ? { is: true as const } : {}
    })
    return is === true
  }

  async #cached<V>(key: string, cache: ExpiringCache<Answer<V>>, ask: () => Promise<Answer<V>>): Promise<Answer<V>> {
    const known = cache.get(key) ?? (this.#running.get(key) as Promise<Answer<V>> | undefined)
    if (known !== undefined) return known
    if (this.#running.size >= this.#limits.maxCalls) throw new ReviewsBusy('too many reviews are running: try again')
    const asked = ask().finally(() => this.#running.delete(key))
    this.#running.set(key, asked)
    const answer = await asked
    cache.set(key, answer, answer.is === undefined ? NO_MS : this.#limits.yesMs)
    return answer
  }

  async #reviewToken(token: string, audiences: readonly string[]): Promise<TokenReviewStatus> {
    const spec = { token, ...(audiences.length > 0 && { audiences: [...audiences] }) }
    const review: TokenReview = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      metadata: { name: '' },
      spec,
    }
    const { status } = await this.#client.create(TokenReview, review, { timeoutMs: TIMEOUT_MS })
    return (status ?? {}) as TokenReviewStatus
  }

  async #isAllowed(spec: object): Promise<boolean> {
    const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', metadata: {}, spec }
    const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews'
    const review = await this.#client.request({ method: 'POST', path, body }, { timeoutMs: TIMEOUT_MS })
    return (review as { readonly status?: { readonly allowed?: boolean } }).status?.allowed === true
  }
}

interface TokenReviewStatus {
  readonly authenticated?: boolean
  readonly user?: ReviewedUser
  readonly audiences?: readonly string[]
}

function digest(kind: string, value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify([kind, value]))
    .digest('base64')
}
