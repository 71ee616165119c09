/**
 * The history of a finished job: its final status, the metrics over time and the last log lines, in one ConfigMap. It is
 * written once, before the pods are cleaned up.
 */
import type { TrainingJobStatus } from '../../../api/training-status.ts'
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import type { ConfigMap } from '../../../kube/resources.ts'
import { historyName, JOB_UID_LABEL, objectLabels } from '../names.ts'
import type { Member } from '../observe/member.ts'

const HISTORY_KEY = 'history.json.gz'
const HISTORY = 'history'

/** The metrics at one time. */
export interface CurvePoint {
  readonly time: string
  readonly attempt: number
  readonly epoch?: number
  readonly step?: number
  readonly metrics?: Readonly<Record<string, number>>
}

/** The end of the log of a pod. */
export interface PodLog {
  readonly pod: string
  readonly role: string
  /** The rank of a worker. */
  readonly index: number
  readonly attempt: number
  readonly node?: string
  readonly log: string
}

export interface HistoryDocument {
  readonly format: 1
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly status: TrainingJobStatus
  readonly metrics: readonly CurvePoint[]
  readonly logs: readonly PodLog[]
}

export function historyDocument(
  { metadata: { namespace = '', name, uid = '' }, status = {} }: TrainingJob,
  parts: Pick<HistoryDocument, 'metrics' | 'logs'>,
): HistoryDocument {
  return { format: 1, namespace, name, uid, status, ...parts }
}

export function podLog({ podName, role, index, attempt, pod }: Member, log: string): PodLog {
  const node = pod?.spec?.nodeName
  return { pod: podName, role, index, attempt, ...(node !== undefined && { node }), log }
}

const SHORT_LOG = 1_024
const FEW_POINTS = 20

/**
 * A smaller document, for one that is too large: without the first half of the longest log, the earliest of equal ones; else
 * with every second point of the metrics; else without the workers. Undefined if nothing is left to omit.
 */
export function shortened(document: HistoryDocument): HistoryDocument | undefined {
  const { logs, metrics, status } = document
  const longest = Math.max(0, ...logs.map(({ log }) => log.length))
  if (longest > SHORT_LOG) {
    const cut = logs.findIndex(({ log }) => log.length === longest)
    return { ...document, logs: logs.map((one, at) => (at === cut ? { ...one, log: secondHalf(one.log) } : one)) }
  }
  if (metrics.length > FEW_POINTS) return { ...document, metrics: metrics.filter((_, at) => at % 2 === 0) }
  if (status.workerStatuses === undefined) return undefined
  const { workerStatuses: _many, ...rest } = status
  return { ...document, status: rest }
}

const secondHalf = (text: string): string => text.slice(Math.ceil(text.length / 2))

/** `data`: the document, compressed, in base64. */
export function historyConfigMap(job: TrainingJob, data: string): ConfigMap {
  const labels = { ...objectLabels(job, HISTORY), [JOB_UID_LABEL]: job.metadata.uid ?? '' }
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: historyName(job), labels },
    immutable: true,
    binaryData: { [HISTORY_KEY]: data },
  }
}

/** Whether the ConfigMap with the name of the history is that of this job. */
export const isHistoryOf = ({ metadata }: ConfigMap, job: TrainingJob): boolean =>
  metadata.labels?.[JOB_UID_LABEL] === job.metadata.uid && metadata.labels?.[COMPONENT] === HISTORY

/** Whether it is that of an earlier job of the same name, which the administrator's policy has retained. */
export const isEarlierHistory = ({ metadata }: ConfigMap, job: TrainingJob): boolean =>
  (metadata.ownerReferences ?? []).length === 0 &&
  metadata.labels?.['trainingjob'] === job.metadata.name &&
  metadata.labels?.[COMPONENT] === HISTORY

const COMPONENT = 'app.kubernetes.io/component'
