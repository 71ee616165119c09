/**
 * Which pod a token is bound to, by the TokenReview API. A token that cannot be one of ours, or has expired, costs no review.
 * Reviews are cached and limited: see `Reviews`.
 */
import { isJsonObject, type JsonObject } from '../api/json.ts'
import { REPORT_AUDIENCE } from '../api/training-report.ts'
import type { Clock, ReviewedUser, ReviewLimits, Reviews } from '../runtime/index.ts'

export interface BoundPod {
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

/** A token belongs to a pod for as long as the pod exists, which the caches know, so its review can be old. */
export const REPORT_REVIEWS: ReviewLimits = { yesMs: 300_000, maxEntries: 10_000, maxCalls: 32 }

/** Tokens of service accounts have about 1 KiB. */
const MAX_TOKEN = 8_192
const POD_NAME = 'authentication.kubernetes.io/pod-name'
const POD_UID = 'authentication.kubernetes.io/pod-uid'

export class TokenVerifier {
  readonly #reviews: Pick<Reviews, 'reviewed'>
  readonly #clock: Clock

  constructor(reviews: Pick<Reviews, 'reviewed'>, clock: Clock) {
    this.#reviews = reviews
    this.#clock = clock
  }

  /** Undefined for a token that is invalid, expired, for another audience or not bound to a pod. */
  async verify(token: string): Promise<BoundPod | undefined> {
    const expiry = expiryOf(token)
    if (expiry === undefined || expiry <= this.#clock.now()) return undefined
    const user = await this.#reviews.reviewed(token, [REPORT_AUDIENCE])
    return user && podOf(user)
  }
}

function podOf({ username, extra }: ReviewedUser): BoundPod | undefined {
  const [, namespace] = /^system:serviceaccount:([^:]+):[^:]+$/.exec(username) ?? []
  const name = firstOf(extra, POD_NAME)
  const uid = firstOf(extra, POD_UID)
  return namespace && name && uid ? { namespace, name, uid } : undefined
}

const firstOf = (extra: Readonly<Record<string, readonly string[]>> = {}, key: string): string | undefined =>
  extra[key]?.[0]

/** When the token says that it expires, in milliseconds since the epoch. Undefined if it is not a token for us. */
function expiryOf(token: string): number | undefined {
  const claims = token.length <= MAX_TOKEN ? claimsOf(token) : undefined
  const audiences = [claims?.['aud']].flat()
  const expiry = claims?.['exp']
  return typeof expiry === 'number' && audiences.includes(REPORT_AUDIENCE) ? expiry * 1000 : undefined
}

/** The claims of a JSON Web Token, not verified. */
function claimsOf(token: string): JsonObject | undefined {
  const parts = token.split('.')
  if (parts.length !== 3) return undefined
  try {
    const claims: unknown = JSON.parse(Buffer.from(parts[1] ?? '', 'base64url').toString())
    return isJsonObject(claims) ? claims : undefined
  } catch {
    return undefined
  }
}
