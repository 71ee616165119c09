/** The schema of a spec as part of a template, from which objects are created later. */

import type { TObject, TSchema } from 'typebox'

/** Compares an object with its previous version. A template is no such object: it can change at any time. */
const TRANSITION = /\boldSelf\b/
const RULES = 'x-kubernetes-validations'

type Node = Record<string, unknown>

/** A copy of the schema that keeps the rules about valid values, without the rules about changes. */
export function templateSchema<S extends TObject>(schema: S): S {
  return withoutTransitions(schema as unknown as Node) as unknown as S
}

/** TypeBox marks optional fields by properties that are not enumerable, so a copy takes over the descriptors. */
function withoutTransitions(node: Node): Node {
  const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(node)) as Node
  for (const key of ['items', 'additionalProperties']) if (isNode(copy[key])) copy[key] = withoutTransitions(copy[key])
  if (isNode(copy['properties'])) {
    const entries = Object.entries(copy['properties'] as Record<string, TSchema>)
    copy['properties'] = Object.fromEntries(entries.map(([name, child]) => [name, withoutTransitions(child as Node)]))
  }
  if (typeof copy['description'] === 'string') copy['description'] = copy['description'].replace(/ Immutable\.$/, '')
  if (Array.isArray(copy[RULES])) setRules(copy, copy[RULES] as readonly { readonly rule: string }[])
  return copy
}

function setRules(node: Node, rules: readonly { readonly rule: string }[]): void {
  const kept = rules.filter(({ rule }) => !TRANSITION.test(rule))
  if (kept.length > 0) node[RULES] = kept
  else delete node[RULES]
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null
}
