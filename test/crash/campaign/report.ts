/** The report of a campaign, in Markdown. */
import { elapsed } from '../../../testenv/progress.ts'
import type { PlanKind } from './catalogue.ts'
import type { Journal, PlanRecord } from './journal.ts'

export interface ReportOptions {
  readonly seed: number
  readonly digest: string
  readonly kinds: readonly PlanKind[]
  /** How the campaign was started. */
  readonly command: string
}

type Row = readonly (string | number)[]

export function reportOf(journal: Journal, options: ReportOptions): string {
  const { plans, parts } = journal
  const violations = [...plans, ...parts].flatMap((record) => record.violations)
  const sections = [
    '# Fault campaign: report',
    `Written by \`${options.command}\`. How plans and oracles work: [reliability.md](reliability.md).`,
    summary(journal, options, violations.length),
    '## By kind of plan',
    byKind(plans, options.kinds),
    '## By scenario',
    byScenario(journal),
    ...(parts.length > 0 ? ['## Other campaigns', ...parts.map(partOf)] : []),
    '## Violations',
    violations.length === 0 ? 'None.' : violations.map((line) => `- ${line.split('\n')[0]}`).join('\n'),
  ]
  return `${sections.join('\n\n')}\n`
}

function summary({ plans, ms }: Journal, { seed, digest }: ReportOptions, violations: number): string {
  const crashes = plans.reduce((sum, record) => sum + record.crashes, 0)
  const scenarios = new Set(plans.map(({ scenario }) => scenario)).size
  return table(
    ['plans', 'scenarios', 'crashes of the operator', 'violations', 'seed', 'time', 'code'],
    [[plans.length, scenarios, crashes, violations, seed, elapsed(ms), `\`${digest}\``]],
  )
}

function byKind(plans: readonly PlanRecord[], kinds: readonly PlanKind[]): string {
  const described = [{ name: 'reference', what: 'no fault, twice for each scenario' }, ...kinds]
  const rows = described.map(({ name, what }): Row => [
    name,
    what,
    ...counts(plans.filter(({ kind }) => kind === name)),
  ])
  return table(['kind', 'what', ...COUNTED], rows)
}

function byScenario({ plans, references }: Journal): string {
  const scenarios = [...Map.groupBy(plans, ({ scenario }) => scenario)]
  const writesOf = new Map(
    references.map(({ scenario, runs }) => [scenario, Math.max(...runs.map(({ writes }) => writes.length))]),
  )
  const rows = scenarios.map(([scenario, records]): Row => [
    records[0]?.workload ?? '',
    scenario,
    writesOf.get(scenario) ?? '',
    ...counts(records),
  ])
  return table(['workload', 'scenario', 'writes', ...COUNTED], rows)
}

const COUNTED = ['plans', 'all faults reached', 'crashes', 'violations', 'mean time']

function counts(records: readonly PlanRecord[]): Row {
  const ms = records.map(({ times }) => Object.values(times).reduce((sum, one) => sum + one, 0))
  const timed = ms.filter((one) => one > 0)
  const mean = timed.reduce((sum, one) => sum + one, 0) / timed.length
  return [
    records.length,
    records.filter(({ reached }) => reached).length,
    records.reduce((sum, { crashes }) => sum + crashes, 0),
    records.reduce((sum, { violations }) => sum + violations.length, 0),
    timed.length === 0 ? '' : `${(mean / 1000).toFixed(1)} s`,
  ]
}

function partOf({ name, figures, violations, ms }: Journal['parts'][number]): string {
  const names = [...Object.keys(figures), 'violations', 'time']
  return `### ${name}\n\n${table(names, [[...Object.values(figures), violations.length, elapsed(ms)]])}`
}

function table(head: readonly string[], rows: readonly Row[]): string {
  const line = (cells: Row): string => `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
