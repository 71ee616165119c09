/** A write that the API server refused, as a reason for people to read on the object. */
import type { Trouble } from './pod-trouble.ts'

export function refusal(message: string): Trouble {
  return { reason: /exceeded quota/.test(message) ? 'QuotaExceeded' : 'Refused', message }
}
