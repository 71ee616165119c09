/** Environment variables of a container. */

export interface Variable {
  readonly name: string
  readonly value?: string
  readonly valueFrom?: { readonly fieldRef: { readonly fieldPath: string } }
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
