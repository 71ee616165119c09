/**
 * Brings the run of one job to its desired state. Every step can be repeated: the run is found by the uid of the job before it
 * is created, parameters and tags are compared with what MLflow has, and after a call without an answer the latest steps
 * are read again, so that no point is stored twice.
 */
import type { RegisteredModel, TrackedRun, TrackingProgress } from '../../api/training-tracking.ts'
import { type Json, type MlflowClient, type MlflowConfig, RejectedError } from './mlflow-client.ts'
import { metricName, type Point, type PointBuffer } from './point-buffer.ts'
import { registerModel } from './model-registry.ts'

/** Limits of MLflow's log-batch. */
const MAX_POINTS = 500
const MAX_ENTRIES = 100
const MAX_VALUE = 500
const MAX_TAG = 4_000

export const UID_TAG = 'ml-operator.uid'

export interface WriterDeps {
  readonly client: Pick<MlflowClient, 'url' | 'call'>
  readonly config: MlflowConfig
  readonly points: PointBuffer
}

export class RunWriter {
  readonly #deps: WriterDeps
  #progress: TrackingProgress = {}
  /** What MLflow has; undefined if it has to be read. */
  #params: Map<string, string> | undefined
  #tags = new Map<string, string>()

  constructor(deps: WriterDeps) {
    this.#deps = deps
  }

  /** What MLflow has, without what went wrong. */
  get progress(): TrackingProgress {
    return this.#progress
  }

  /** Throws if MLflow does not have everything after it. */
  async advance(run: TrackedRun): Promise<void> {
    try {
      const id = await this.#attach(run)
      await this.#describe(id, run)
      await this.#logPoints(id, run)
      await this.#close(id, run)
      await this.#register(id, run)
    } catch (error) {
      // A call without an answer may have been executed.
      this.#params = undefined
      throw error
    }
  }

  async #attach(run: TrackedRun): Promise<string> {
    const known = this.#progress.runId ?? run.runId
    if (known !== undefined && this.#params) return known
    const found = known === undefined ? undefined : await this.#read(known, run)
    const id = found ?? (await this.#findOrCreate(run))
    if (!found) await this.#read(id, run)
    return id
  }

  async #findOrCreate(run: TrackedRun): Promise<string> {
    const experiment = await this.#experiment(run)
    const filter = `tags.\`${UID_TAG}\` = '${run.uid}'`
    const search = { experiment_ids: [experiment], filter, max_results: 1, order_by: ['attributes.start_time ASC'] }
    const { runs } = await this.#post('runs/search', search)
    const [first] = Array.isArray(runs) ? (runs as Json[]) : []
    if (first) return idIn(first)
    const created = await this.#post('runs/create', {
      experiment_id: experiment,
      start_time: run.startTime,
      run_name: run.runName,
      tags: pairs({ [UID_TAG]: run.uid }, MAX_TAG),
    })
    return idIn(created['run'])
  }

  async #experiment({ namespace, experiment }: TrackedRun): Promise<string> {
    const name = `${this.#deps.config.experimentPrefix.replaceAll('{namespace}', namespace)}${experiment}`
    const find = async (): Promise<string> => {
      const found = await this.#deps.client.call('GET', 'experiments/get-by-name', { experiment_name: name })
      return idOf((found['experiment'] as Json | undefined)?.['experiment_id'])
    }
    try {
      return await find()
    } catch (error) {
      if (!isMissing(error)) throw error
    }
    try {
      return idOf((await this.#post('experiments/create', { name }))['experiment_id'])
    } catch (error) {
      if (!(error instanceof RejectedError) || error.code !== 'RESOURCE_ALREADY_EXISTS') throw error
      return find()
    }
  }

  /** Reads what MLflow has of the run. Undefined if it has no such run. */
  async #read(id: string, { uid }: TrackedRun): Promise<string | undefined> {
    try {
      const { run } = await this.#deps.client.call('GET', 'runs/get', { run_id: id })
      const { info, data } = (run ?? {}) as { info?: Json; data?: Json }
      if (idIn(run) !== id) throw new Error('MLflow answered runs/get with another run')
      this.#params = entries(data?.['params'])
      this.#tags = entries(data?.['tags'])
      this.#deps.points.known(uid, latestPoints(data?.['metrics']))
      const experiment = encodeURIComponent(idOf(info?.['experiment_id']))
      const { runId: _known, ...rest } = this.#progress
      const url = `${this.#deps.client.url}/#/experiments/${experiment}/runs/${id}`
      this.#progress = { runStatus: 'RUNNING', ...rest, runId: id, url }
      return id
    } catch (error) {
      if (!isMissing(error)) throw error
      this.#progress = {}
      return undefined
    }
  }

  async #describe(id: string, run: TrackedRun): Promise<void> {
    const given = Object.entries(run.params).map(
      ([name, value]) => [metricName(name), value.slice(0, MAX_VALUE)] as const,
    )
    const params = given.filter(([key]) => !this.#params?.has(key))
    const tags = Object.entries({ ...run.tags, 'mlflow.runName': run.runName })
      .map(([key, value]) => [key.slice(0, MAX_VALUE), value.slice(0, MAX_TAG)] as const)
      .filter(([key, value]) => this.#tags.get(key) !== value)
    if (params.length === 0 && tags.length === 0) return
    const asPairs = (all: readonly (readonly [string, string])[]) =>
      all.slice(0, MAX_ENTRIES).map(([key, value]) => ({ key, value }))
    await this.#post('runs/log-batch', { run_id: id, params: asPairs(params), tags: asPairs(tags) })
    for (const [key, value] of params) this.#params?.set(key, value)
    for (const [key, value] of tags) this.#tags.set(key, value)
  }

  async #logPoints(id: string, { uid }: TrackedRun): Promise<void> {
    const { points } = this.#deps
    for (let batch = points.next(uid, MAX_POINTS); batch.length > 0; batch = points.next(uid, MAX_POINTS)) {
      try {
        await this.#post('runs/log-batch', { run_id: id, metrics: batch })
        points.stored(uid, batch)
      } catch (error) {
        if (!(error instanceof RejectedError)) throw error
        points.rejected(uid, batch)
      }
    }
  }

  async #close(id: string, { status, endTime }: TrackedRun): Promise<void> {
    if (status === 'RUNNING' || this.#progress.runStatus === status) return
    await this.#post('runs/update', { run_id: id, status, ...(endTime !== undefined && { end_time: endTime }) })
    this.#progress = { ...this.#progress, runStatus: status }
  }

  async #register(id: string, { namespace, register }: TrackedRun): Promise<void> {
    if (!register || this.#progress.registered) return
    const name = `${this.#deps.config.modelPrefix.replaceAll('{namespace}', namespace)}${register.name}`
    const registered: RegisteredModel = await registerModel(this.#deps.client.call, id, { ...register, name })
    this.#progress = { ...this.#progress, registered }
  }

  #post(endpoint: string, body: Json): Promise<Json> {
    return this.#deps.client.call('POST', endpoint, body)
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof RejectedError && error.code === 'RESOURCE_DOES_NOT_EXIST'

/** The ID of a run or experiment. It becomes part of URLs and of the status. */
function idOf(value: unknown): string {
  if (typeof value !== 'string' || !/^[-_A-Za-z0-9]{1,64}$/.test(value))
    throw new Error('MLflow answered without an ID')
  return value
}

function idIn(run: unknown): string {
  return idOf(((run as Json | undefined)?.['info'] as Json | undefined)?.['run_id'])
}

export function pairs(values: Readonly<Record<string, string>>, max: number): Json[] {
  return Object.entries(values).map(([key, value]) => ({ key, value: value.slice(0, max) }))
}

function entries(list: unknown): Map<string, string> {
  const all = Array.isArray(list) ? (list as Json[]) : []
  return new Map(all.flatMap((one) => (typeof one?.['key'] === 'string' ? [[one['key'], String(one['value'])]] : [])))
}

/** MLflow writes 64-bit numbers as numbers or as text. */
function latestPoints(list: unknown): Point[] {
  const all = Array.isArray(list) ? (list as readonly (Json | null)[]) : []
  return all.flatMap((one) => {
    const { key, step = 0, timestamp = 0 } = one ?? {}
    const point = { key: String(key), value: 0, step: Number(step), timestamp: Number(timestamp) }
    return Number.isFinite(point.step) && Number.isFinite(point.timestamp) ? [point] : []
  })
}
