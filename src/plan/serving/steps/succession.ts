/**
 * Waits while the garbage collector deletes what an earlier model of the same name left behind. Until then the names of the
 * children are taken by objects that this model does not control.
 */
import { millis } from '../../time.ts'
import type { ServingObserved } from '../observe/observed.ts'
import type { ServingPlan } from '../serving-plan.ts'

/** After this time leftovers are treated like any other object that has a name of ours: condition `Conflict`. */
const SUCCESSION_MS = 60_000
const LOOK_MS = 1_000

export function waitForPredecessor({ model, leftovers, now }: ServingObserved): ServingPlan | undefined {
  const age = now - (millis(model.metadata.creationTimestamp) ?? -Infinity)
  if (age >= SUCCESSION_MS || leftovers.length === 0) return undefined
  return { writes: [], deletions: [], events: [], requeueAfterMs: LOOK_MS }
}
