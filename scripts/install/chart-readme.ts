/** The README of the chart: how to install it, and a table of its values. */

import { markdownTable } from '../markdown-table.ts'
import type { ChartValue } from './chart-values.ts'
import { isOneValue } from './values-schema.ts'

const HEAD = `<!-- Generated from values.yaml by scripts/generate.ts. Do not edit. -->

# ml-operator

Installs the operator with its CRDs, RBAC roles and conversion webhook. Helm 3 and Helm 4 are supported, and Kubernetes 1.30 or newer.

\`\`\`sh
helm install ml-operator charts/ml-operator --namespace ml-operator-system --create-namespace
helm test ml-operator --namespace ml-operator-system --logs
\`\`\`

\`helm test\` trains and serves a tiny model and deletes it. See [docs/OPERATIONS.md](../../docs/OPERATIONS.md) for upgrades, certificates
and permissions, and [docs/configuration.md](../../docs/configuration.md) for the settings in \`config\`.

## Values
`

interface Row {
  readonly value: string
  readonly fallback: string
  readonly description: string
}

export function chartReadme(values: readonly ChartValue[]): string {
  return `${HEAD}\n${tableOf(values)}\n`
}

function tableOf(values: readonly ChartValue[]): string {
  const rows = values.flatMap(rowsOf).map(({ value, fallback, description }) => [value, fallback, description])
  return markdownTable([['value', 'default', 'description'], ...rows])
}

function rowsOf(value: ChartValue): Row[] {
  const { path, fallback, description, children } = value
  const isWhole = children.length === 0 || isOneValue(path)
  const row = { value: `\`${path}\``, fallback: isWhole ? literal(fallback) : '', description: escaped(description) }
  if (isWhole && description === '') throw new Error(`values.yaml: add a comment above ${path}`)
  if (isWhole) return [row]
  return [...(description === '' ? [] : [row]), ...children.flatMap(rowsOf)]
}

const literal = (value: unknown): string => (value === '' ? '' : `\`${escaped(JSON.stringify(value))}\``)

const escaped = (text: string): string => text.replaceAll('|', '\\|')
