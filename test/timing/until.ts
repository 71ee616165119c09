import { setTimeout as delay } from 'node:timers/promises'

const POLL_MS = 50
const TIMEOUT_MS = 60_000

/**
 * Polls until `ask` returns neither false nor undefined and does not throw. Returns the answer. After the timeout, throws an
 * error with `what` and the last error as its cause. The timeout catches hung tests; it is not a performance bound.
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

/** Waits until an operator has ended three more reconciles. */
export async function threePasses(operator: { passes(): Promise<number> }): Promise<void> {
  const since = await operator.passes()
  await until('three more passes', async () => (await operator.passes()) >= since + 3)
}
