import type { Credential, CredentialSource } from './client-config.ts'

export interface Loaded {
  readonly credential: Credential
  /** Time until which it may be used without a reload, in milliseconds since the epoch. */
  readonly freshUntil: number
}

/** After a failed reload the old credential is used for this long before the next attempt. */
const RELOAD_RETRY_MS = 5_000

/**
 * Keeps the result of `load` until it is stale or the server rejects it. Concurrent calls share one load. If a reload
 * fails, the old credential stays in use unless the server has rejected it.
 */
export function cachedCredential(load: () => Promise<Loaded>, now: () => number = Date.now): CredentialSource {
  let held: Loaded | undefined
  let loading: Promise<Loaded> | undefined

  const reload = async (): Promise<Loaded> => {
    const loaded = await load()
    held = isSame(held?.credential, loaded.credential) ? { ...loaded, credential: held.credential } : loaded
    return held
  }

  return async (rejected) => {
    const isRejected = held !== undefined && held.credential === rejected
    if (held !== undefined && !isRejected && now() < held.freshUntil) return held.credential
    loading ??= reload().finally(() => (loading = undefined))
    try {
      return (await loading).credential
    } catch (error) {
      if (held === undefined || isRejected) throw error
      held = { ...held, freshUntil: now() + RELOAD_RETRY_MS }
      return held.credential
    }
  }
}

function isSame(a: Credential | undefined, b: Credential): a is Credential {
  return a !== undefined && a.token === b.token && a.cert === b.cert && a.key === b.key && a.ca === b.ca
}
