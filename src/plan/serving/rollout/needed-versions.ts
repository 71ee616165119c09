/** The versions that run: those of the destination, those to go back to, or both. */
import type { ServedModel, ServedVersion } from '../observe/served-model.ts'
import type { Travel } from './course.ts'
import { type Content, restored } from './revision.ts'
import { isClearing, isRecreating, isRemoving, isTravelling } from './strategy.ts'

type Needs = Pick<Travel, 'spec' | 'isNew' | 'state' | 'history' | 'stable'>

/** On the way, those that had traffic before are as they were. */
export function neededVersions(travel: Needs, content: Content, model: ServedModel): readonly ServedVersion[] {
  const { state, history, stable, isNew } = travel
  const good = history.find(({ revision }) => revision === state.stableRevision)
  const earlier = (good && restored(good)) ?? content
  const asOf = ({ parts, versions }: Content): readonly ServedVersion[] =>
    versions.map((version) => ({
      ...version,
      scaling: model.versions.find(({ name }) => name === version.name)?.scaling ?? version.scaling,
      parts,
    }))
  if (state.phase === 'RolledBack' || state.phase === 'Aborted') return asOf(earlier)
  const wanted = asOf(content)
  if (!isTravelling(state)) return wanted
  const kept = new Map(
    asOf(earlier)
      .filter(({ name }) => (stable.get(name) ?? 0) > 0)
      .map((version) => [version.name, version]),
  )
  const added = [...kept.values()].filter(({ name }) => !wanted.some((one) => one.name === name))
  const isOldNeeded = !isRecreating(travel) || isNew || (isRemoving(travel) && !isClearing(travel))
  return [...wanted.map((version) => kept.get(version.name) ?? version), ...(isOldNeeded ? added : [])]
}
