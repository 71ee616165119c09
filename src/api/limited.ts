/**
 * What is accepted but has no effect yet. An API must not promise in silence what nothing does: a reconciler that
 * finds such fields in a spec names them in the condition `Limited`. Whoever gives a field its behaviour takes it
 * off this list; when a list is empty, the condition goes.
 */

import type { KubeObject } from '../kube/object.ts'
import type { Verdict } from './conditions.ts'
import { GROUP, MLOPS_GROUP } from './kinds.ts'
import { isJsonObject } from './json.ts'

/** Paths below `spec`, by group and kind, as v1 spells them. `[]` stands for every entry of a list. */
export const limited: Readonly<Record<string, readonly string[]>> = {
  [`${GROUP}/ModelDeployment`]: [],
  [`${GROUP}/ModelServer`]: [],
  [`${MLOPS_GROUP}/ModelDeployment`]: [],
}

/** The fields of a spec that have no effect yet, as paths of the object: `spec.checkpoint.storage`, … */
export function limitedFields(
  object: KubeObject & { readonly spec?: unknown },
  paths: readonly string[] = limited[groupKind(object)] ?? [],
): string[] {
  return paths.filter((path) => isPresent(object.spec, path.split('.'))).map((path) => `spec.${path}`)
}

/** The condition that says so, or nothing when every field has its effect. */
export function limitedVerdict(
  object: KubeObject & { readonly spec?: unknown },
  paths?: readonly string[],
): Verdict | undefined {
  const fields = limitedFields(object, paths)
  if (fields.length === 0) return undefined
  return {
    type: 'Limited',
    status: 'True',
    reason: 'NotImplemented',
    message: `accepted, but without effect in this release: ${fields.join(', ')}`,
    ...(object.metadata.generation !== undefined && { observedGeneration: object.metadata.generation }),
  }
}

const groupKind = ({ apiVersion, kind }: KubeObject): string => `${apiVersion.split('/')[0]}/${kind}`

function isPresent(value: unknown, [step, ...rest]: readonly string[]): boolean {
  if (step === undefined) return value !== undefined && value !== false
  if (!isJsonObject(value)) return false
  if (!step.endsWith('[]')) return isPresent(value[step], rest)
  const entries = value[step.slice(0, -2)]
  return Array.isArray(entries) && entries.some((entry) => isPresent(entry, rest))
}
