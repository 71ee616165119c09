/** Queries with placeholders such as `{version}`. What replaces them is a name or a duration, so it cannot change a query. */

export type Placeholders = Readonly<Record<string, string>>

const SAFE = /^[a-zA-Z0-9][-a-zA-Z0-9.]{0,252}$/

/** Undefined if a value is no plain name. */
export function filled(template: string, values: Placeholders): string | undefined {
  if (!Object.values(values).every((value) => SAFE.test(value))) return undefined
  return Object.entries(values).reduce((text, [name, value]) => text.replaceAll(`{${name}}`, value), template)
}
