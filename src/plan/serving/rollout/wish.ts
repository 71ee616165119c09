/** What is to be served in the end: the spec, or the earlier revision that it asks for. */
import type { Revision } from '../../../api/rollout-status.ts'
import type { RollbackTo } from '../../../api/serving-rollout.ts'
import { soleOf } from '../../traffic/index.ts'
import type { ServingObserved } from '../observe/observed.ts'
import { type Content, restored, toWeights } from './revision.ts'
import type { RolloutSpec } from './rollout-spec.ts'

export interface Wish {
  readonly content: Content
  readonly reason: 'SpecChanged' | 'RollbackTo'
  readonly problem?: string
}

export function wishOf({ rollbackTo }: RolloutSpec, own: Content, { model }: ServingObserved): Wish {
  if (!rollbackTo) return { content: own, reason: 'SpecChanged' }
  const { history = [], rollout } = model.status ?? {}
  const found = history.findLast((one) => isAskedFor(one, rollbackTo))
  const content = found && restored(found)
  if (content) return { content, reason: 'RollbackTo' }
  const current = history.find(({ revision }) => revision === rollout?.revision)
  const known = history.filter(({ template }) => template !== undefined).map(({ revision }) => revision)
  const { revision, version } = rollbackTo
  const asked =
    revision === undefined
      ? `version: no completed revision has all traffic on ${version ?? ''}`
      : `revision: ${revision} cannot be restored`
  const problem = `spec.rollbackTo.${asked}: choose one of the revisions ${known.join(', ')} of status.history, or remove rollbackTo`
  return { content: (current && restored(current)) ?? own, reason: 'SpecChanged', problem }
}

function isAskedFor(one: Revision, { revision, version }: RollbackTo): boolean {
  if (revision !== undefined) return one.revision === revision
  return one.result === 'Completed' && soleOf(toWeights(one.weights)) === version
}
