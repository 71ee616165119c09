/**
 * Differential oracles: compare a run under faults with fault-free runs. G4 compares how often each object was created and
 * deleted, G5 compares the end state.
 */
import type { KubeObject } from '../../../src/kube/object.ts'
import { nameOf } from './observer.ts'

/** The comparable part of a run. */
export interface Trace {
  readonly tally: ReadonlyMap<string, { readonly created: number; readonly deleted: number }>
  /** `Kind/name path` → value, for every object that exists at the end. */
  readonly end: ReadonlyMap<string, string>
  /** How often pods were started again because the server rejected a write for one of them. */
  readonly retries?: number
}

/** Fields that differ between any two runs. */
const VOLATILE =
  /\.(resourceVersion|managedFields|uid|generation|observedGeneration|duration|clusterIPs?|volumeName)\b|\/route-call$|\.status\.cost\./
/** Fields that Kubernetes' own controllers and the kubelet write, at times of their own. */
const FOREIGN =
  /^(Job|Pod|Deployment|ReplicaSet|HorizontalPodAutoscaler|PodDisruptionBudget)\/[^.]*\.(status|metadata\.finalizers)\./
/** How often pods were started again, and what follows from it: a later attempt lists the checkpoints before it starts. */
export const HISTORY =
  /example\.com\/(attempt|template)\b|commit\.runtime\/intent|TRAININGJOB_ATTEMPT|RESUME_FROM_CHECKPOINT|\.restartCount$|\.status\.(attempts|restarts)$|\.status\.attemptHistory\.|\.(lastFailure|checkpoint|scheduling)\.attempt$|\.status\.checkpoint\.(count|storage)$/
const ATTEMPTS = /\.status\.(attempts|restarts)$/
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '<uid>'],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>'],
  [/\b\d+(\.\d+){3}\b/g, '<address>'],
  // A continued campaign runs on another cluster, with another node.
  [/\bfake-[0-9a-f]{8}\b/g, '<node>'],
]

export function endState(objects: readonly KubeObject[], namespace: string): Map<string, string> {
  const mine = objects.flatMap((object) => leaves(withKeyedItems(object, keyOfItem), nameOf(object)))
  const masked = mine.map(([path, value]): [string, string] => [path, mask(value.replaceAll(namespace, '<namespace>'))])
  return new Map(masked.filter(([path]) => !VOLATILE.test(path) && !FOREIGN.test(path)))
}

/** Key of a list item, given the field that holds the list. Empty: the list is compared by position. */
export type ItemKey = (item: unknown, field: string) => string

/** Lists whose items all have a key, as maps: where one item is missing, the others stay comparable. */
export function withKeyedItems(value: unknown, keyOf: ItemKey, field = ''): unknown {
  if (Array.isArray(value)) {
    const entries = value.map((item): [string, unknown] => [keyOf(item, field), withKeyedItems(item, keyOf)])
    const isKeyed = entries.length > 0 && entries.every(([key]) => key !== '')
    return isKeyed ? Object.fromEntries(entries) : entries.map(([, item]) => item)
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withKeyedItems(member, keyOf, name)]))
}

/** The API server merges conditions by their type, so their order has no meaning: it is that of their first appearance. */
const keyOfItem: ItemKey = (item, field) => {
  if (field === 'env') return (item as { readonly name: string }).name
  return field === 'conditions' ? (item as { readonly type: string }).type : ''
}

function mask(text: string): string {
  return PATTERNS.reduce((result, [pattern, placeholder]) => result.replaceAll(pattern, placeholder), text)
}

function leaves(value: unknown, path: string): [string, string][] {
  if (typeof value !== 'object' || value === null) return [[path, JSON.stringify(value) ?? '']]
  return Object.entries(value).flatMap(([key, member]) => leaves(member, `${path}.${key}`))
}

/** What the fault-free runs agree on. A value on which they differ is not compared. */
export class Reference {
  readonly #traces: readonly Trace[]
  readonly #agreed: ReadonlyMap<string, string>

  constructor(traces: readonly [Trace, ...Trace[]]) {
    this.#traces = traces
    const [first, ...others] = traces
    const isAgreed = ([path, value]: [string, string]): boolean => others.every(({ end }) => end.get(path) === value)
    this.#agreed = new Map([...first.end].filter(isAgreed))
  }

  differences(trace: Trace): string[] {
    if (trace.retries) return this.#differencesWithRetries(trace, trace.retries)
    return [...this.#summaryDifferences(trace), ...this.endDifferences(trace)]
  }

  /** Pods that were started again were created and deleted once more each time at most, and every attempt is counted. */
  #differencesWithRetries(trace: Trace, retries: number): string[] {
    const isAllowed = (id: string): boolean =>
      id.startsWith('Pod/') &&
      this.#traces.some(({ tally }) => {
        const [now, before] = [countOf(trace.tally, id), countOf(tally, id)]
        const more = now.created - before.created
        return more >= 0 && more <= retries && now.deleted === before.deleted + more
      })
    const isHistory = (line: string): boolean => HISTORY.test(line.slice(0, line.indexOf(' is ')))
    // Retries of an object that was deleted meanwhile are not in the status of the one that has its name now.
    const isCounted = (now: number, before: number): boolean => now >= before && now <= before + retries
    const miscounted = [...this.#agreed].filter(
      ([path, value]) => ATTEMPTS.test(path) && !isCounted(Number(trace.end.get(path)), Number(value)),
    )
    return [
      ...this.#summaryDifferences(trace, isAllowed),
      ...this.endDifferences(trace).filter((line) => !isHistory(line)),
      ...miscounted.map(
        ([path, value]) => `G5: ${path} is ${trace.end.get(path)}, expected ${value} and at most ${retries} more`,
      ),
    ]
  }

  /**
   * A late write can create a child once more after its owner was deleted, because the API server does not check owners. Then
   * the child must be deleted once more as well. The pods of a late Deployment are as many as those that it had before.
   */
  differencesWithLateWrite(trace: Trace): string[] {
    const isLate = (id: string): boolean =>
      this.#traces.some(({ tally }) => {
        const [now, before] = [countOf(trace.tally, id), countOf(tally, id)]
        const more = now.created - before.created
        const most = id.startsWith('Pod/') ? Math.max(before.created, 1) : 1
        return more >= 1 && more <= most && now.deleted === before.deleted + more
      })
    return [...this.#summaryDifferences(trace, isLate), ...this.endDifferences(trace)]
  }

  #summaryDifferences({ tally }: Trace, isAllowed: (id: string) => boolean = () => false): string[] {
    const ids = new Set([...tally.keys(), ...this.#traces.flatMap((known) => [...known.tally.keys()])])
    const different = [...ids].filter((id) => !isAllowed(id))
    return different.flatMap((id) => {
      const counts = this.#traces.map((known) => counted(known, id))
      const count = counted({ tally }, id)
      return counts.includes(count) ? [] : [`G4: ${id} was ${count}, without faults ${counts.join(' or ')}`]
    })
  }

  endDifferences({ end }: Trace): string[] {
    const wrong = [...this.#agreed].filter(([path, value]) => end.get(path) !== value)
    const known = new Set(this.#traces.flatMap((trace) => [...trace.end.keys()]))
    const extra = [...end.keys()].filter((path) => !known.has(path))
    return [
      ...wrong.map(([path, value]) => `G5: ${path} is ${end.get(path) ?? 'absent'}, without faults ${value}`),
      ...extra.map((path) => `G5: ${path} is ${end.get(path)}, without faults absent`),
    ]
  }
}

function countOf(tally: Trace['tally'], id: string): { readonly created: number; readonly deleted: number } {
  return tally.get(id) ?? { created: 0, deleted: 0 }
}

function counted({ tally }: Pick<Trace, 'tally'>, id: string): string {
  const { created, deleted } = countOf(tally, id)
  return `created ${created}×, deleted ${deleted}×`
}
