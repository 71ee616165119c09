/**
 * Fields that the API accepts but that have no effect yet. The planner reports them in the condition `Limited`. Remove a
 * field from the list when it is implemented.
 */

import type { KubeObject } from '../kube/object.ts'
import type { Verdict } from './conditions.ts'
import { GROUP, MLOPS_GROUP } from './kinds.ts'
import { isJsonObject } from './json.ts'

/** Paths below `spec` in v1, by group and kind. `[]` means every entry of a list. */
export const limited: Readonly<Record<string, readonly string[]>> = {
  [`${GROUP}/ModelDeployment`]: [],
  [`${GROUP}/ModelServer`]: [],
  [`${MLOPS_GROUP}/ModelDeployment`]: [],
}

/** Fields of the object that have no effect yet, as paths: `spec.checkpoint.storage`, … */
export function limitedFields(
  object: KubeObject & { readonly spec?: unknown },
  paths: readonly string[] = limited[groupKind(object)] ?? [],
): string[] {
  return paths.filter((path) => isPresent(object.spec, path.split('.'))).map((path) => `spec.${path}`)
}

/** The condition `Limited`, or undefined if every field of the object has an effect. */
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
    message: `Fields without effect in this release: ${fields.join(', ')}`,
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
