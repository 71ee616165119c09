/** What to do when the API server rejects a pod because an object that the spec names does not exist. Parsed from its text. */

const REFERENCES: readonly (readonly [pattern: RegExp, field: string, kind: string])[] = [
  [/no PriorityClass with name (\S+) was found/, 'scheduling.priorityClassName', 'PriorityClass'],
  [/serviceaccount "([^"]+)" not found/, 'serviceAccountName', 'ServiceAccount'],
]

/** The message, with the field and the fix if it is about a missing object. */
export function withAdvice(message: string): string {
  for (const [pattern, field, kind] of REFERENCES) {
    const name = pattern.exec(message)?.[1]
    if (name !== undefined) return `${message}: create the ${kind} ${name}, or correct spec.${field}`
  }
  return message
}
