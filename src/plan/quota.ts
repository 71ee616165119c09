/** Rejections by a ResourceQuota. The API server reports them only as text, which is parsed here. */
import { isQuotaMessage } from '../kube/errors.ts'
import type { Trouble } from './pod-trouble.ts'

const EXCEEDED = /exceeded quota: ([^,\s]+), requested: (\S+), used: (\S+), limited: (\S+)/

/** Undefined for any other rejection. */
export function quotaTrouble(message: string): Trouble | undefined {
  if (!isQuotaMessage(message)) return undefined
  const [, quota, requested, used, limited] = EXCEEDED.exec(message) ?? []
  if (quota === undefined) return { reason: 'QuotaExceeded', message }
  return {
    reason: 'QuotaExceeded',
    message: `quota ${quota} is exceeded: requested ${requested}, used ${used}, limited to ${limited}`,
  }
}
