/**
 * What the log says about a committed plan: what changed in the status, why, and what was deleted. One line for a pass that
 * decided something; none for a pass that only updated numbers or did nothing.
 *
 * A line has names, reasons and counts. It has no messages, because those can quote the programs of users, and no object,
 * because it can contain a secret. Both are in the status and in the events of the object.
 */
import type { Deletion, Plan } from '../decision/plan.ts'
import type { KubeObject } from '../kube/object.ts'
import type { Condition } from './status.ts'

export interface DecisionLine {
  readonly level: 'info' | 'warn'
  readonly fields: DecisionFields
}

export interface DecisionFields {
  readonly generation?: number
  /** Fields of the status, each with its values before and after. */
  readonly changed?: Readonly<Record<string, readonly [Scalar, Scalar]>>
  /** Conditions whose status or reason changed, as `status/reason`. */
  readonly conditions?: Readonly<Record<string, string>>
  /** Reasons of the published events. */
  readonly reasons?: readonly string[]
  /** Deleted objects by kind. */
  readonly deleted?: Readonly<Record<string, number>>
}

type Scalar = string | number | boolean | null
type Status = Readonly<Record<string, unknown>> | undefined

const MAX_TEXT = 256

/** Undefined if the plan decided nothing. `highlights` are the fields of the status that matter. */
export function decisionLine(
  owner: KubeObject & { readonly status?: unknown },
  plan: Plan,
  highlights: readonly string[],
): DecisionLine | undefined {
  const before = owner.status as Status
  const after = plan.status === undefined ? before : (plan.status as Status)
  const { generation } = owner.metadata
  const decided = present({
    changed: changesOf(before, after, highlights),
    conditions: conditionsOf(before, after),
    reasons: [...new Set(plan.events.map(({ reason }) => reason))],
    deleted: countByKind(plan.deletions),
  })
  if (Object.keys(decided).length === 0) return undefined
  const level = plan.events.some(({ type }) => type === 'Warning') ? 'warn' : 'info'
  return { level, fields: { ...(generation !== undefined && { generation }), ...decided } }
}

function changesOf(before: Status, after: Status, names: readonly string[]): Record<string, readonly [Scalar, Scalar]> {
  const pairs = names.map((name) => [name, [scalar(before?.[name]), scalar(after?.[name])]] as const)
  return Object.fromEntries(pairs.filter(([, [from, to]]) => from !== to))
}

function scalar(value: unknown): Scalar {
  if (typeof value === 'string') return value.slice(0, MAX_TEXT)
  return typeof value === 'number' || typeof value === 'boolean' ? value : null
}

function conditionsOf(before: Status, after: Status): Record<string, string> {
  const known = wordsOf(before)
  return Object.fromEntries([...wordsOf(after)].filter(([type, words]) => known.get(type) !== words))
}

function wordsOf(status: Status): Map<string, string> {
  const conditions = (status?.['conditions'] ?? []) as readonly Condition[]
  return new Map(conditions.map((one) => [one.type, `${one.status}/${one.reason}`]))
}

/** Without objects that are already terminating: commit skips those. */
function countByKind(deletions: readonly Deletion[]): Record<string, number> {
  const due = deletions.filter(({ how, object }) => how === 'force' || object.metadata.deletionTimestamp === undefined)
  const counts: Record<string, number> = {}
  for (const { object } of due) counts[object.kind] = (counts[object.kind] ?? 0) + 1
  return counts
}

/** Without empty lists and maps. */
function present(fields: Omit<DecisionFields, 'generation'>): Omit<DecisionFields, 'generation'> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => Object.keys(value).length > 0))
}
