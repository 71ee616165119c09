/** Parts of plans, for assertions. */
import type { DeleteMode, Plan, WriteMode } from '../../src/decision/plan.ts'
import type { KubeObject } from '../../src/kube/object.ts'

export function objectsToWrite({ writes }: Pick<Plan, 'writes'>, mode: WriteMode = 'apply'): KubeObject[] {
  return writes.flatMap(({ how, object }) => (how === mode ? object : []))
}

export function objectsToDelete({ deletions }: Pick<Plan, 'deletions'>, mode: DeleteMode = 'graceful'): KubeObject[] {
  return deletions.flatMap(({ how, object }) => (how === mode ? object : []))
}
