import type { KubeObject } from '../kube/object.ts'

interface Step {
  readonly how: string
  readonly object: KubeObject
}

/** Groups neighbours of one mode and kind, in the given order: plans list objects by dependency, kind by kind. */
export function kindRuns<T extends Step>(steps: readonly T[]): [T, ...T[]][] {
  const runs: [T, ...T[]][] = []
  for (const step of steps) {
    const run = runs.at(-1)
    if (run?.[0].how === step.how && run[0].object.kind === step.object.kind) run.push(step)
    else runs.push([step])
  }
  return runs
}
