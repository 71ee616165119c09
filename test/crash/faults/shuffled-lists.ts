/** Returns every list in random order, and makes watches begin with a list. */
import type { Interceptor } from '../../../src/kube/interceptor.ts'
import { seeded, shuffled } from '../../random/seeded.ts'
import { CANNOT_STREAM } from './stale-reads.ts'

export function shuffledLists(seed: number): Interceptor {
  const random = seeded(seed)
  return async (call, next) => {
    if (call.verb === 'watch' && call.path.includes('sendInitialEvents=true')) return CANNOT_STREAM
    const response = await next(call)
    if (call.verb !== 'list' || response.status >= 300 || typeof response.body !== 'string') return response
    const list = JSON.parse(response.body) as { readonly items?: readonly unknown[] | null }
    return { ...response, body: JSON.stringify({ ...list, items: shuffled(random, list.items ?? []) }) }
  }
}
