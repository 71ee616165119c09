/**
 * The oldest trick against silent errors: compare with a run in which nothing went wrong. G4 compares how often each
 * object was created and deleted, G5 compares what is left in the end.
 */
import type { KubeObject } from '../../src/kube/object.ts'
import { nameOf } from './witness.ts'

/** A run, as far as two runs can be compared. */
export interface Trace {
  readonly tally: ReadonlyMap<string, { readonly created: number; readonly deleted: number }>
  /** `Kind/name path` → value, for everything that is left. */
  readonly end: ReadonlyMap<string, string>
}

/** Differs from run to run by nature, whatever the program does. */
const VOLATILE =
  /\.(resourceVersion|managedFields|uid|generation|observedGeneration|duration|clusterIPs?|volumeName)\b|\/route-call$/
/** What Kubernetes' own controllers and the kubelet say, when they get round to it. */
const FOREIGN =
  /^(Job|Pod|Deployment|ReplicaSet|HorizontalPodAutoscaler|PodDisruptionBudget)\/[^.]*\.(status|metadata\.finalizers)\./
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '<uid>'],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>'],
  [/\b\d+(\.\d+){3}\b/g, '<address>'],
]

export function endState(objects: readonly KubeObject[], namespace: string): Map<string, string> {
  const mine = objects.flatMap((object) => leaves(object, nameOf(object)))
  const masked = mine.map(([path, value]): [string, string] => [path, mask(value.replaceAll(namespace, '<namespace>'))])
  return new Map(masked.filter(([path]) => !VOLATILE.test(path) && !FOREIGN.test(path)))
}

function mask(text: string): string {
  return PATTERNS.reduce((result, [pattern, placeholder]) => result.replaceAll(pattern, placeholder), text)
}

function leaves(value: unknown, path: string): [string, string][] {
  if (typeof value !== 'object' || value === null) return [[path, JSON.stringify(value) ?? '']]
  return Object.entries(value).flatMap(([key, member]) => leaves(member, `${path}.${key}`))
}

/** What fault-free runs agree on. Where they differ among themselves, nothing is asked of other runs. */
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
    return [...this.#summaryDifferences(trace), ...this.#endDifferences(trace)]
  }

  #summaryDifferences({ tally }: Trace): string[] {
    const ids = new Set([...tally.keys(), ...this.#traces.flatMap((known) => [...known.tally.keys()])])
    return [...ids].flatMap((id) => {
      const counts = this.#traces.map((known) => counted(known, id))
      const count = counted({ tally }, id)
      return counts.includes(count) ? [] : [`G4: ${id} was ${count}, without faults ${counts.join(' or ')}`]
    })
  }

  #endDifferences({ end }: Trace): string[] {
    const wrong = [...this.#agreed].filter(([path, value]) => end.get(path) !== value)
    const known = new Set(this.#traces.flatMap((trace) => [...trace.end.keys()]))
    const extra = [...end.keys()].filter((path) => !known.has(path))
    return [
      ...wrong.map(([path, value]) => `G5: ${path} is ${end.get(path) ?? 'absent'}, without faults ${value}`),
      ...extra.map((path) => `G5: ${path} is ${end.get(path)}, without faults absent`),
    ]
  }
}

function counted({ tally }: Pick<Trace, 'tally'>, id: string): string {
  const { created, deleted } = tally.get(id) ?? { created: 0, deleted: 0 }
  return `created ${created}×, deleted ${deleted}×`
}
