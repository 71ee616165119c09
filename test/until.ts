import { setTimeout as delay } from 'node:timers/promises'

const POLL_MS = 50
const TIMEOUT_MS = 60_000

/**
 * Asks until the answer is neither false nor undefined nor an error, and gives it. When time runs out, the error
 * says what was waited for and why the last answer was not enough. The limit is a net for a hung test, not a bound
 * on speed.
 */
export async function until<T>(
  what: string,
  ask: () => T | Promise<T>,
  timeoutMs = TIMEOUT_MS,
): Promise<Exclude<T, false | undefined>> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const answer = await attempt(ask)
    if (!('error' in answer) && answer.value !== false && answer.value !== undefined) {
      return answer.value as Exclude<T, false | undefined>
    }
    if (Date.now() > deadline) {
      throw new Error(`waited ${timeoutMs} ms for: ${what}`, 'error' in answer ? { cause: answer.error } : {})
    }
    await delay(POLL_MS)
  }
}

async function attempt<T>(ask: () => T | Promise<T>): Promise<{ value: T } | { error: unknown }> {
  try {
    return { value: await ask() }
  } catch (error) {
    return { error }
  }
}
