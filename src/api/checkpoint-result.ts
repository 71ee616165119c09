/**
 * The result of `ml-operator agent checkpoints-prepare`: one line of JSON in the termination log of its pod. The agent writes
 * it, and the planner reads it from the status of the pod.
 */
import { isJsonObject, type JsonObject, own } from './json.ts'

/** A complete checkpoint. */
export interface FoundCheckpoint {
  readonly name: string
  readonly step: number
  /** When it was written, RFC 3339 in UTC. */
  readonly time: string
}

export interface PreparedCheckpoints {
  /** The complete checkpoint with the highest step. Absent if there is none. */
  readonly latest?: FoundCheckpoint
  /** Complete checkpoints that remain. */
  readonly count: number
  readonly pruned: number
  /** Whether `latest` was copied from the checkpoint to resume from. */
  readonly imported: boolean
  /** True if the storage holds anything else, such as checkpoints in a layout of the training code. */
  readonly other?: true
}

/** One sentence that names what to change. */
export interface CheckpointsFailure {
  readonly error: string
}

export type CheckpointsResult = PreparedCheckpoints | CheckpointsFailure

/** The name of a checkpoint is the name of its directory. Others are ignored and not changed. */
export function isCheckpointName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(name) && !name.includes('.replaced-')
}

/** In characters of up to three bytes: the result has at most 2 KiB. */
const LONGEST_ERROR = 600

export function checkpointsResultText(result: CheckpointsResult): string {
  if (!('error' in result)) return JSON.stringify(result)
  const { error } = result
  // Control characters take six bytes each in JSON.
  const line = error.replaceAll(/[\p{Cc}\p{Cs}]+/gu, ' ')
  return JSON.stringify({ error: line.length > LONGEST_ERROR ? `${line.slice(0, LONGEST_ERROR)}…` : line })
}

/** Undefined if the agent did not write the text, for example after an OOM kill. */
export function parseCheckpointsResult(text: string | undefined): CheckpointsResult | undefined {
  const json = parseObject(text)
  if (json === undefined) return undefined
  const error = own(json, 'error')
  if (error !== undefined) return typeof error === 'string' ? { error } : undefined
  const given = own(json, 'latest')
  const latest = given === undefined ? undefined : foundIn(given)
  const [count, pruned, imported] = [own(json, 'count'), own(json, 'pruned'), own(json, 'imported')]
  if (!isCount(count) || !isCount(pruned) || typeof imported !== 'boolean') return undefined
  if (given !== undefined && latest === undefined) return undefined
  return {
    ...(latest !== undefined && { latest }),
    count,
    pruned,
    imported,
    ...(own(json, 'other') === true && { other: true as const }),
  }
}

function foundIn(given: unknown): FoundCheckpoint | undefined {
  if (!isJsonObject(given)) return undefined
  const [name, step, time] = [own(given, 'name'), own(given, 'step'), own(given, 'time')]
  if (typeof name !== 'string' || !isCheckpointName(name) || !isCount(step)) return undefined
  if (typeof time !== 'string' || time.length > 64 || Number.isNaN(Date.parse(time))) return undefined
  return { name, step, time }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function parseObject(text: string | undefined): JsonObject | undefined {
  if (text === undefined || !text.trimStart().startsWith('{')) return undefined
  try {
    const json: unknown = JSON.parse(text)
    return isJsonObject(json) ? json : undefined
  } catch {
    return undefined
  }
}
