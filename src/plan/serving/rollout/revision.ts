/** Revisions: what a model consisted of, as the status remembers it, with enough to restore the pods exactly. */
import { canonicalJson, isJsonObject, type Json } from '../../../api/json.ts'
import type { Revision, Shares } from '../../../api/rollout-status.ts'
import { fingerprint } from '../../fingerprint.ts'
import { notBefore } from '../../time.ts'
import { sum, type Weights, WHOLE } from '../../traffic/index.ts'
import type { ModelParts, ServedModel, ServedVersion } from '../observe/served-model.ts'

export interface Content {
  /** What the versions share. */
  readonly parts: ModelParts
  readonly versions: readonly ServedVersion[]
}

export function contentOf({ versions, metadata: _metadata, traffic: _traffic, ...model }: ServedModel): Content {
  const { validation: _validation, ...parts } = model
  return { parts, versions }
}

/** The number of pods is no part of a revision: it changes without a rollout. */
export function hashOf({ parts, versions }: Content): string {
  const fixed = versions.map(({ scaling: _scaling, ...version }) => version)
  return fingerprint(canonicalJson([parts, fixed] as unknown as Json))
}

export const weightsOfContent = ({ versions }: Pick<Content, 'versions'>): Weights =>
  new Map(versions.map(({ name, weight }) => [name, weight]))

export const toShares = (weights: Weights): Shares => [...weights].map(([name, weight]) => ({ name, weight }))

export const toWeights = (shares: Shares): Weights => new Map(shares.map(({ name, weight }) => [name, weight]))

const MAX_TEMPLATE = 32_768
const MAX_TEMPLATES = 131_072

/** Undefined if it is too long for a status. */
export function templateOf(content: Content): string | undefined {
  // In the order of the fields: digests of rendered pods depend on it.
  const text = JSON.stringify(content)
  return text.length > MAX_TEMPLATE ? undefined : text
}

/** Undefined if the revision cannot be restored. */
export function restored({ template, weights }: Revision): Content | undefined {
  if (template === undefined || sum(toWeights(weights)) !== WHOLE) return undefined
  try {
    const content: unknown = JSON.parse(template)
    const isContent = isJsonObject(content) && isJsonObject(content['parts']) && Array.isArray(content['versions'])
    return isContent ? (content as unknown as Content) : undefined
  } catch {
    return undefined
  }
}

/** With the numbers of pods that the spec has now, for versions that it has. */
export function rescaled(revision: Revision, { versions: current }: Pick<Content, 'versions'>): Revision {
  const content = restored(revision)
  if (!content) return revision
  const versions = content.versions.map((version) => ({
    ...version,
    scaling: current.find(({ name }) => name === version.name)?.scaling ?? version.scaling,
  }))
  const template = templateOf({ ...content, versions })
  return template === undefined ? revision : { ...revision, template }
}

export interface NewRevision extends Pick<Revision, 'reason' | 'result'> {
  readonly content: Content
  readonly now: number
}

export function newRevision(history: readonly Revision[], { content, reason, result, now }: NewRevision): Revision {
  const template = templateOf(content)
  return {
    revision: Math.max(0, ...history.map(({ revision }) => revision)) + 1,
    hash: hashOf(content),
    time: notBefore(now),
    reason,
    result,
    weights: toShares(weightsOfContent(content)),
    ...(template !== undefined && { template }),
  }
}

/** The newest of them. Those to keep stay, however old they are, and with them what restores them. */
export function pruned(history: readonly Revision[], limit: number, keep: ReadonlySet<number>): Revision[] {
  const surplus = history.filter(({ revision }) => !keep.has(revision)).slice(0, Math.max(0, history.length - limit))
  const left = history.filter((one) => !surplus.includes(one))
  let room = MAX_TEMPLATES
  const fitting = new Set(
    left
      .toSorted(
        (one, other) =>
          Number(keep.has(other.revision)) - Number(keep.has(one.revision)) || other.revision - one.revision,
      )
      .filter(({ template = '' }) => (room -= template.length) >= 0)
      .map(({ revision }) => revision),
  )
  return left.map((one) => (fitting.has(one.revision) ? one : withoutTemplate(one)))
}

function withoutTemplate({ template: _template, ...revision }: Revision): Revision {
  return revision
}
