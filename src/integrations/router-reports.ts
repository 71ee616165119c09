/**
 * Reads the reports of router pods. A pod whose report is missing, late, too large or invalid is omitted from the result:
 * it neither delays nor fails the others.
 */
import { request } from 'undici'
import {
  type LatencyBucket,
  REPORT_PATH,
  REPORT_PORT,
  type TrafficReport,
  type VersionCounters,
} from '../api/router-report.ts'
import type { Pod } from '../kube/resources.ts'
import { isPodAddress } from './pod-address.ts'

export interface TrafficReportsOptions {
  readonly timeoutMs?: number
  /** Default: the report port of routers. */
  readonly port?: number
  /** Which addresses to ask. Default: those that pods can have. */
  readonly accepts?: (address: string) => boolean
}

const TIMEOUT_MS = 2_000
const MAX_REPORT = 64 * 1024
const MAX_BUCKETS = 100
const MAX_VERSIONS = 100

/** Returns the reports by uid of the pod. Never throws. */
export type ReadTrafficReports = (pods: readonly Pod[]) => Promise<ReadonlyMap<string, TrafficReport>>

export function trafficReports({
  timeoutMs = TIMEOUT_MS,
  port = REPORT_PORT,
  accepts = isPodAddress,
}: TrafficReportsOptions = {}): ReadTrafficReports {
  return async (pods) => {
    const asked = pods.filter(({ status }) => status?.podIP !== undefined && accepts(status.podIP))
    const answers = await Promise.all(
      asked.map(async (pod) => [pod.metadata.uid ?? '', await readReport(pod, port, timeoutMs)] as const),
    )
    return new Map(answers.flatMap(([uid, report]) => (report ? [[uid, report] as const] : [])))
  }
}

async function readReport({ status }: Pod, port: number, timeoutMs: number): Promise<TrafficReport | undefined> {
  const ip = status?.podIP
  if (ip === undefined) return undefined
  const host = ip.includes(':') ? `[${ip}]` : ip
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    const { statusCode, body } = await request(`http://${host}:${port}${REPORT_PATH}`, { signal })
    if (statusCode === 200) return parseReport(await readBounded(body))
    await body.dump()
    return undefined
  } catch {
    return undefined
  }
}

async function readBounded(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    if (length > MAX_REPORT) throw new Error('the report is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Undefined for an invalid report. */
export function parseReport(text: string): TrafficReport | undefined {
  const { startedAt, versions } = (JSON.parse(text) ?? {}) as Partial<TrafficReport>
  if (!isCount(startedAt) || !Array.isArray(versions) || versions.length > MAX_VERSIONS) return undefined
  return versions.every(isCounters) ? { startedAt, versions } : undefined
}

function isCounters(value: unknown): value is VersionCounters {
  const {
    version,
    weight,
    requests,
    errors,
    latencyMsSum,
    latencyBuckets = [],
    openMsSum = 0,
  } = (value ?? {}) as Partial<VersionCounters>
  const isBuckets =
    Array.isArray(latencyBuckets) && latencyBuckets.length <= MAX_BUCKETS && latencyBuckets.every(isBucket)
  return typeof version === 'string' && [weight, requests, errors, latencyMsSum, openMsSum].every(isCount) && isBuckets
}

function isBucket(value: unknown): value is LatencyBucket {
  const { leMs, count } = (value ?? {}) as Partial<LatencyBucket>
  return isCount(leMs) && isCount(count)
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}
