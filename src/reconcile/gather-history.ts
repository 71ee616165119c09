/** The reads for the history of a finished job: logs of its pods, and what was collected while it ran. */
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import {
  type HistoryDocument,
  historyDocument,
  historyMembers,
  historyName,
  needsHistory,
  type PodLog,
  podLog,
  shortened,
  type TrainingConfig,
  type TrainingObserved,
} from '../plan/training/index.ts'
import type { ReadLog } from './gather-training.ts'
import type { TrainingCaches } from './training-caches.ts'
import type { HistoryStore } from './training-history.ts'

/** Lines of each log. */
export const HISTORY_LINES = 200
const MAX_BYTES = 256 * 1024
/** Pods of the last attempt whose logs are read. */
const MAX_PODS = 8

export interface HistoryDeps {
  readonly caches: Pick<TrainingCaches, 'configMaps'>
  readonly config: TrainingConfig
  readonly readLog: ReadLog
  readonly history?: HistoryStore
}

export async function gatherHistory(
  observed: TrainingObserved,
  deps: HistoryDeps,
): Promise<Pick<TrainingObserved, 'history'>> {
  const { job } = observed
  const { caches, config, history } = deps
  if (!config.history.enabled || !history) return {}
  const { namespace = '', uid = '' } = job.metadata
  const existing = caches.configMaps.get({ namespace, name: historyName(job) })
  if (!needsHistory(job, config, existing)) return existing ? { history: { existing } } : {}
  const { metrics, logs } = history.of(uid)
  const document = historyDocument(job, { metrics, logs: await logsOf(observed, logs, deps) })
  const data = (await compressed(document)).toString('base64')
  return { history: { ...(existing && { existing }), data } }
}

/** Those of earlier attempts first. */
async function logsOf(
  observed: TrainingObserved,
  collected: ReadonlyMap<string, PodLog>,
  { config, readLog }: HistoryDeps,
): Promise<PodLog[]> {
  if (!config.failureLogs) return []
  const missing = historyMembers(observed).filter(({ pod }) => !collected.has(pod?.metadata.uid ?? ''))
  const read = await Promise.all(
    missing.slice(0, MAX_PODS).map(async (member) => {
      const log = member.pod && (await readLog(member.pod, HISTORY_LINES))
      return log === undefined ? [] : [podLog(member, log)]
    }),
  )
  return [...collected.values(), ...read.flat()]
}

const compress = promisify(gzip)

async function compressed(document: HistoryDocument): Promise<Buffer> {
  const data = await compress(JSON.stringify(document))
  const smaller = data.length > MAX_BYTES ? shortened(document) : undefined
  return smaller ? compressed(smaller) : data
}
