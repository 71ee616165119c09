/**
 * What the operator collects in memory for the histories of jobs: metrics over time, and the logs of failed workers of
 * earlier attempts. Every replica collects the metrics from its cache, so that another leader has them too. A restart of the
 * operator loses what was collected before. It is bounded: jobs and logs above the limits are not collected.
 */
import type { TrainingJob } from '../api/trainingjob.v1.ts'
import type { ConfigMap } from '../kube/resources.ts'
import { type CurvePoint, isFinished, JOB_UID_LABEL, type PodLog } from '../plan/training/index.ts'
import type { CacheEvent } from '../runtime/index.ts'

/** Points of a curve. */
const MAX_POINTS = 200
const MAX_METRICS = 16
const MAX_JOBS = 512
/** Logs of a job, and characters of all logs. */
const MAX_LOGS = 8
const MAX_LOG_CHARACTERS = 16 * 1024 * 1024

class Curve {
  #points: CurvePoint[] = []
  #latest: CurvePoint | undefined
  #seen = 0
  /** One in this many points is kept. */
  #stride = 1

  /** The latest point is always there. */
  get points(): readonly CurvePoint[] {
    const last = this.#latest
    return last === undefined || this.#points.at(-1) === last ? this.#points : [...this.#points, last]
  }

  /** Ignores a point of the same time. When there are too many, every second one is dropped, so that they stay even. */
  add(point: CurvePoint): void {
    if (point.time === this.#latest?.time) return
    this.#latest = point
    if (this.#seen++ % this.#stride !== 0) return
    this.#points.push(point)
    if (this.#points.length < MAX_POINTS) return
    this.#points = this.#points.filter((_, at) => at % 2 === 0)
    this.#stride *= 2
  }
}

interface Collected {
  readonly curve: Curve
  /** By uid of the pod. */
  readonly logs: Map<string, PodLog>
}

export class HistoryStore {
  readonly #jobs = new Map<string, Collected>()
  #characters = 0

  get size(): number {
    return this.#jobs.size
  }

  of(jobUid: string): { readonly metrics: readonly CurvePoint[]; readonly logs: ReadonlyMap<string, PodLog> } {
    const { curve, logs } = this.#jobs.get(jobUid) ?? { logs: new Map<string, PodLog>() }
    return { metrics: curve?.points ?? [], logs }
  }

  addLog(jobUid: string, podUid: string, log: PodLog): void {
    const collected = this.#collected(jobUid)
    if (!collected || collected.logs.has(podUid) || this.#characters + log.log.length > MAX_LOG_CHARACTERS) return
    collected.logs.set(podUid, log)
    this.#characters += log.log.length
    const [[earliest, dropped] = []] = collected.logs
    if (collected.logs.size <= MAX_LOGS || earliest === undefined || !dropped) return
    collected.logs.delete(earliest)
    this.#characters -= dropped.log.length
  }

  forget(jobUid: string): void {
    for (const { log } of this.#jobs.get(jobUid)?.logs.values() ?? []) this.#characters -= log.length
    this.#jobs.delete(jobUid)
  }

  /** Collects the metrics of jobs. Those of a job that had ended before are of no use. */
  readonly onJob = ({ type, object, initial }: CacheEvent<TrainingJob>): void => {
    const { uid = '' } = object.metadata
    if (type === 'delete') return this.forget(uid)
    const point = pointOf(object)
    if (point && !(initial && isFinished(object))) this.#collected(uid)?.curve.add(point)
  }

  /** Forgets a job when its history is kept. */
  readonly onConfigMap = ({ type, object }: CacheEvent<ConfigMap>): void => {
    const uid = object.metadata.labels?.[JOB_UID_LABEL]
    if (type !== 'delete' && uid !== undefined) this.forget(uid)
  }

  #collected(jobUid: string): Collected | undefined {
    const known = this.#jobs.get(jobUid)
    if (known || this.#jobs.size >= MAX_JOBS) return known
    const fresh = { curve: new Curve(), logs: new Map<string, PodLog>() }
    this.#jobs.set(jobUid, fresh)
    return fresh
  }
}

function pointOf({ status }: TrainingJob): CurvePoint | undefined {
  const { lastReport, currentEpoch, step, metrics } = status ?? {}
  if (!lastReport) return undefined
  return {
    time: lastReport.time,
    attempt: lastReport.attempt,
    ...(currentEpoch !== undefined && { epoch: currentEpoch }),
    ...(step !== undefined && { step }),
    ...(metrics && { metrics: Object.fromEntries(Object.entries(metrics).slice(0, MAX_METRICS)) }),
  }
}
