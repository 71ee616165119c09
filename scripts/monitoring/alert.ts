/** An alert, with the content of its runbook page. */
export interface Alert {
  readonly name: string
  readonly severity: 'critical' | 'warning' | 'info'
  readonly expr: string
  /** How long the expression holds before the alert fires. */
  readonly for: string
  /** One line, with the labels of the alert in templates. */
  readonly summary: string
  /** The runbook: what the alert means, how to look, how to fix. */
  readonly meaning: string
  readonly look: readonly string[]
  readonly fix: readonly string[]
}

/** A counter that has increased, also if its series began within the window: `increase` does not see the first value. */
export function hasIncreased(selector: string, window: string, by: string): string {
  const began = `(${selector} unless ${selector} offset ${window})`
  return `sum by (${by}) ((increase(${selector}[${window}]) > 0) or ${began}) > 0`
}
