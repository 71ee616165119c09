/** Environment variables of a container. */

interface KeyReference {
  readonly name: string
  readonly key: string
  readonly optional?: boolean
}

export interface ValueSource {
  readonly secretKeyRef?: KeyReference
  readonly configMapKeyRef?: KeyReference
  readonly fieldRef?: { readonly apiVersion?: string; readonly fieldPath: string }
}

export interface Variable {
  readonly name: string
  readonly value?: string
  readonly valueFrom?: ValueSource
}

/**
 * A variable of a spec, as the API server stores it in a pod: with `valueFrom` it has no value, and a field reference has a
 * version. Written out, neither is taken for a change of others.
 */
export function renderVariable({ name, value, valueFrom }: Variable): Variable {
  if (!valueFrom) return { name, ...(value !== undefined && { value }) }
  const { fieldRef, ...others } = valueFrom
  return { name, valueFrom: fieldRef ? { fieldRef: { apiVersion: 'v1', ...fieldRef } } : others }
}

/** Nothing for an undefined value. */
export const variable = (name: string, value: string | number | undefined): Variable[] =>
  value === undefined ? [] : [{ name, value: String(value) }]

export const field = (name: string, fieldPath: string): Variable => ({ name, valueFrom: { fieldRef: { fieldPath } } })

/** Each name once; the first to set it wins. The API server rejects a list that has a name twice. */
export function firstOfEach(variables: readonly Variable[]): Variable[] {
  const byName = new Map<string, Variable>()
  for (const entry of variables) if (!byName.has(entry.name)) byName.set(entry.name, entry)
  return [...byName.values()]
}

/** Text that reaches the process unchanged: `$(NAME)` in it is not expanded. */
export const literal = (text: string): string => text.replaceAll('$(', '$$$$(')
