/** Runs `work` over all items in batches of 1, 2, 4 … up to `WIDEST`, so that what fails, fails early and once. */
export async function slowStart<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (let width = 1; results.length < items.length; width = Math.min(width * 2, WIDEST)) {
    const batch = items.slice(results.length, results.length + width)
    results.push(...(await allOf(batch.map(work))))
  }
  return results
}

const WIDEST = 32

/** Like `Promise.all`, but waits for the others before it throws: nothing goes on behind the caller's back. */
async function allOf<R>(promises: Promise<R>[]): Promise<R[]> {
  await Promise.allSettled(promises)
  return Promise.all(promises)
}
