/**
 * Shows a program the past: its first list of every kind is the one of an older version of the store, as the server still
 * keeps it, and what came after is told only after a while. So a cache behind the truth is as real as it can be.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Call, Interceptor, Response } from '../../src/kube/interceptor.ts'

/** Enough for a program to do something unwise. */
const BLIND_MS = 400

export function showingThePast(version: string): Interceptor {
  const over = delay(BLIND_MS)
  const listed = new Set<string>()
  return async (call, next) => {
    if (call.verb === 'watch' && call.path.includes('sendInitialEvents=true')) return CANNOT_STREAM
    if (call.verb === 'list' && isFirst(listed, call)) return next({ ...call, path: asOf(call.path, version) })
    if (call.verb === 'watch') await over
    return next(call)
  }
}

const CANNOT_STREAM: Response = {
  status: 400,
  headers: {},
  body: JSON.stringify({ kind: 'Status', code: 400, reason: 'BadRequest', message: 'planned: list instead' }),
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
