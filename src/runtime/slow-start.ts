/** Runs `work` on all items in batches of 1, 2, 4 … up to `MAX_BATCH`, so that a general failure shows early and once. */
export async function slowStart<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (let width = 1; results.length < items.length; width = Math.min(width * 2, MAX_BATCH)) {
    const batch = items.slice(results.length, results.length + width)
    results.push(...(await settleAll(batch.map(work))))
  }
  return results
}

const MAX_BATCH = 32

/** Like `Promise.all`, but waits for all promises before it throws, so that nothing runs after it has returned. */
async function settleAll<R>(promises: Promise<R>[]): Promise<R[]> {
  await Promise.allSettled(promises)
  return Promise.all(promises)
}
