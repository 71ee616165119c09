/** API server failures as the client sees them on the wire. */
import { setTimeout as delay } from 'node:timers/promises'
import { ConnectionError } from '../../../src/kube/errors.ts'
import type { Call, Response, Send } from '../../../src/kube/interceptor.ts'
import { errorResponse } from '../../client/faults.ts'
import type { Failure } from './fault.ts'

/** Shorter than the time limit of a real call, which would make plans too long. */
const HANG_MS = 700

type Answer = (call: Call, next: Send) => Response | Promise<Response>

const answers: Readonly<Record<Failure, Answer>> = {
  conflict: () => errorResponse(409, 'Conflict'),
  throttled: () => {
    const { headers, ...rest } = errorResponse(429, 'TooManyRequests')
    return { ...rest, headers: { ...headers, 'retry-after': '0' } }
  },
  internal: () => errorResponse(500, 'InternalError'),
  timeout: () => errorResponse(504, 'Timeout'),
  quota: ({ name, resource }) =>
    errorResponse(
      403,
      'Forbidden',
      `${resource?.plural} "${name}" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1`,
    ),
  terminating: ({ name, namespace, resource }) =>
    errorResponse(
      403,
      'Forbidden',
      `${resource?.plural} "${name}" is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`,
      { causes: [{ reason: 'NamespaceTerminating', message: 'being terminated', field: 'metadata.namespace' }] },
    ),
  exists: ({ name, resource }) => errorResponse(409, 'AlreadyExists', `${resource?.plural} "${name}" already exists`),
  hang: async (call) => {
    await delay(HANG_MS, undefined, call.signal ? { signal: call.signal } : {}).catch(() => {
      throw call.signal?.reason
    })
    throw new ConnectionError(call, new Error('injected: no answer in time'))
  },
  reset: (call) => {
    throw new ConnectionError(call, new Error('injected: connection reset'))
  },
  lost: async (call, next) => {
    await next(call)
    throw new ConnectionError(call, new Error('injected: connection reset after the write was stored'))
  },
}

export async function failCall(mode: Failure, call: Call, next: Send): Promise<Response> {
  return answers[mode](call, next)
}
