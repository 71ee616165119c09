/**
 * A leader that is paused between its decision and its write sends the write after its successor has acted. The API server
 * rejects a late update, because it names a resourceVersion or uid. It cannot reject a late creation: it does not know
 * which attempt of a job is current. So an object of the past may appear once more, until the successor or the garbage
 * collector deletes it. Oracles that forbid the pod itself do not judge it; that it is deleted is judged by G1, G4 and G5.
 */
import type { ObservedChange, Oracle } from './oracle.ts'

/** Names of writes that were sent late, as `plural/name`. */
export type LateWrites = ReadonlySet<string>

/** T2: pods of one attempt at a time. T5: no pod after the end. */
const ABOUT_NEW_PODS: readonly string[] = ['T2', 'T5']

export function allowLateCreations(oracle: Oracle, late: LateWrites): Oracle {
  const { name, onChange } = oracle
  if (!onChange || !ABOUT_NEW_PODS.includes(name)) return oracle
  return {
    ...oracle,
    onChange: (change, cluster) => {
      const violation = onChange(change, cluster)
      return isLateCreation(change, late) ? undefined : violation
    },
  }
}

function isLateCreation({ type, object }: ObservedChange, late: LateWrites): boolean {
  return type === 'created' && object.kind === 'Pod' && late.has(`pods/${object.metadata.name}`)
}
