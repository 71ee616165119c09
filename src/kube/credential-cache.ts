import type { Credential, CredentialSource } from './client-config.ts'

export interface Loaded {
  readonly credential: Credential
  /** Until when (ms since 1970) it may be used without looking again. */
  readonly freshUntil: number
}

/** After a failed reload the old credential serves this long before the next try. */
const PATIENCE_MS = 5_000

/**
 * Remembers what `load` gave until it is stale or the server refuses it, and loads once however many calls are
 * waiting. A reload that fails leaves the old credential in use, unless that one has been refused.
 */
export function cachedCredential(load: () => Promise<Loaded>, now: () => number = Date.now): CredentialSource {
  let held: Loaded | undefined
  let loading: Promise<Loaded> | undefined

  const reload = async (): Promise<Loaded> => {
    const loaded = await load()
    held = same(held?.credential, loaded.credential) ? { ...loaded, credential: held.credential } : loaded
    return held
  }

  return async (rejected) => {
    const refused = held !== undefined && held.credential === rejected
    if (held !== undefined && !refused && now() < held.freshUntil) return held.credential
    loading ??= reload().finally(() => (loading = undefined))
    try {
      return (await loading).credential
    } catch (error) {
      if (held === undefined || refused) throw error
      held = { ...held, freshUntil: now() + PATIENCE_MS }
      return held.credential
    }
  }
}

function same(a: Credential | undefined, b: Credential): a is Credential {
  return a !== undefined && a.token === b.token && a.cert === b.cert && a.key === b.key
}
