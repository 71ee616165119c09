/**
 * Stale reads: the first list of every kind is served from an older resourceVersion, which the API server still has, and
 * watches start after a delay. The operator's caches are then really stale.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Call, Interceptor, Response } from '../../../src/kube/interceptor.ts'

/** Long enough for the operator to act on stale caches. */
const STALE_MS = 400

export function staleReads(version: string): Interceptor {
  const over = delay(STALE_MS)
  const listed = new Set<string>()
  return async (call, next) => {
    if (call.verb === 'watch' && call.path.includes('sendInitialEvents=true')) return CANNOT_STREAM
    if (call.verb === 'list' && isFirst(listed, call)) return next({ ...call, path: asOf(call.path, version) })
    if (call.verb === 'watch') await over
    return next(call)
  }
}

export const CANNOT_STREAM: Response = {
  status: 400,
  headers: {},
  body: JSON.stringify({ kind: 'Status', code: 400, reason: 'BadRequest', message: 'injected: list instead' }),
}

function isFirst(listed: Set<string>, { resource }: Call): boolean {
  const kind = `${resource?.group}/${resource?.plural}`
  if (listed.has(kind)) return false
  listed.add(kind)
  return true
}

function asOf(path: string, version: string): string {
  const [bare = '', query = ''] = path.split('?')
  const asked = new URLSearchParams(query)
  asked.set('resourceVersion', version)
  asked.set('resourceVersionMatch', 'Exact')
  return `${bare}?${asked.toString()}`
}
