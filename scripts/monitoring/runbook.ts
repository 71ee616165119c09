/** The page of an alert in docs/runbooks. */

import type { Alert } from './alert.ts'

/** As the annotation `runbook` names it, from the root of the repository. */
export const runbookPath = ({ name }: Pick<Alert, 'name'>): string => `docs/runbooks/${name}.md`

export function runbook({ name, severity, expr, for: time, meaning, look, fix }: Alert): string {
  const list = (lines: readonly string[]): string => lines.map((line) => `- ${line}`).join('\n')
  return `# ${name}

Severity: ${severity}. Fires ${time === '0m' ? 'at once' : `after ${time}`} when this expression has a result:

\`\`\`promql
${expr}
\`\`\`

## Meaning

${meaning}

## How to look

${list(look)}

## How to fix

${list(fix)}
`
}
