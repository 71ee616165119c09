type Labels = Readonly<Record<string, string>>

const REQUIREMENT = /^(?<not>!)?(?<key>[^\s!=,()]+)(?:(?<operator>==?|!=)(?<value>[^\s!=,()]*))?$/

/**
 * Whether the server would select an object with these labels: `key`, `!key`, `key=value`, `key!=value`, joined by commas.
 * Selectors by sets of values are not understood and refused, rather than guessed at.
 */
export function selects(labelSelector: string, labels: Labels = {}): boolean {
  return labelSelector.split(',').every((requirement) => isMet(requirement.trim(), labels))
}

function isMet(requirement: string, labels: Labels): boolean {
  const { not, key = '', operator, value } = REQUIREMENT.exec(requirement)?.groups ?? {}
  if (key === '')
    throw new Error(`the selector '${requirement}' is not understood: use key, !key, key=value, key!=value`)
  if (operator === undefined) return Object.hasOwn(labels, key) === (not === undefined)
  return (labels[key] === value) === (operator !== '!=')
}
