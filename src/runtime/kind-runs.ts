import type { KubeObject } from '../kube/object.ts'

/** Groups neighbours of one kind, in the given order: plans list objects by dependency, kind by kind. */
export function kindRuns<T extends KubeObject>(objects: readonly T[]): T[][] {
  const runs: T[][] = []
  for (const object of objects) {
    const run = runs.at(-1)
    if (run?.[0]?.kind === object.kind) run.push(object)
    else runs.push([object])
  }
  return runs
}
