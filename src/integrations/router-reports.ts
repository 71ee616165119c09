/**
 * Asks router pods what they do. A pod that does not answer, answers late, too much or nonsense is simply not in the
 * answer: nobody who asks is kept waiting or fails for it.
 */
import { request } from 'undici'
import { REPORT_PATH, REPORT_PORT, type RouterReport, type VersionCounters } from '../api/router-report.ts'
import type { Pod } from '../kube/resources.ts'

export interface RouterReportsOptions {
  readonly timeoutMs?: number
  /** Another port than the one that routers listen on. */
  readonly port?: number
}

const TIMEOUT_MS = 2_000
const LONGEST_REPORT = 64 * 1024
const MOST_VERSIONS = 100

/** By uid of the pod. Never throws. */
export type ReadRouterReports = (pods: readonly Pod[]) => Promise<ReadonlyMap<string, RouterReport>>

export function routerReports({
  timeoutMs = TIMEOUT_MS,
  port = REPORT_PORT,
}: RouterReportsOptions = {}): ReadRouterReports {
  return async (pods) => {
    const answers = await Promise.all(
      pods.map(async (pod) => [pod.metadata.uid ?? '', await reportOf(pod, port, timeoutMs)] as const),
    )
    return new Map(answers.flatMap(([uid, report]) => (report ? [[uid, report] as const] : [])))
  }
}

async function reportOf({ status }: Pod, port: number, timeoutMs: number): Promise<RouterReport | undefined> {
  const ip = status?.podIP
  if (ip === undefined) return undefined
  const host = ip.includes(':') ? `[${ip}]` : ip
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    const { statusCode, body } = await request(`http://${host}:${port}${REPORT_PATH}`, { signal })
    if (statusCode === 200) return parseReport(await boundedText(body))
    await body.dump()
    return undefined
  } catch {
    return undefined
  }
}

async function boundedText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    if (length > LONGEST_REPORT) throw new Error('the report does not end')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Undefined for what is no report. */
export function parseReport(text: string): RouterReport | undefined {
  const { startedAt, versions } = (JSON.parse(text) ?? {}) as Partial<RouterReport>
  if (!isCount(startedAt) || !Array.isArray(versions) || versions.length > MOST_VERSIONS) return undefined
  return versions.every(isCounters) ? { startedAt, versions } : undefined
}

function isCounters(value: unknown): value is VersionCounters {
  const { version, weight, requests, errors, latencyMsSum } = (value ?? {}) as Partial<VersionCounters>
  return typeof version === 'string' && [weight, requests, errors, latencyMsSum].every(isCount)
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}
