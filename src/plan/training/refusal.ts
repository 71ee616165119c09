/** A write that the API server refused, as a reason for people to read on the job. */
import type { Waiting } from './waiting.ts'

export function refusal(message: string): Waiting {
  const reason = /exceeded quota/.test(message) ? 'QuotaExceeded' : 'Refused'
  return { reason, message, isProblem: true, isUnschedulable: true }
}
