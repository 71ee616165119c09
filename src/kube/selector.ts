type Labels = Readonly<Record<string, string>>

const REQUIREMENT = /^(?<not>!)?(?<key>[^\s!=,()]+)(?:(?<operator>==?|!=)(?<value>[^\s!=,()]*))?$/

/**
 * Whether the server would select an object with these labels. Supports `key`, `!key`, `key=value` and `key!=value`,
 * joined by commas. Throws for set-based selectors.
 */
export function selects(labelSelector: string, labels: Labels = {}): boolean {
  return labelSelector.split(',').every((requirement) => isMet(requirement.trim(), labels))
}

function isMet(requirement: string, labels: Labels): boolean {
  const { not, key = '', operator, value } = REQUIREMENT.exec(requirement)?.groups ?? {}
  if (key === '') throw new Error(`selector '${requirement}' is not supported: use key, !key, key=value or key!=value`)
  if (operator === undefined) return Object.hasOwn(labels, key) === (not === undefined)
  return (labels[key] === value) === (operator !== '!=')
}
