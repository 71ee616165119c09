/**
 * Declares the flags of a command: name, help, environment variable, default. The command line takes precedence over the
 * environment, the environment over the default.
 */
import { parseArgs } from 'node:util'

export interface Flag {
  /** Placeholder for the value in the help. A flag without it is boolean: `--name` or `--no-name`. */
  readonly value?: string
  /** Environment variable to use if the flag is omitted. */
  readonly env?: string
  readonly default?: string
  readonly help: string
}

export type Flags = Readonly<Record<string, Flag>>

/** The values of all flags: strings, or booleans for flags without a placeholder; undefined if omitted. */
export type Values<F extends Flags> = {
  readonly [name in keyof F]: F[name] extends { readonly value: string }
    ? F[name] extends { readonly default: string }
      ? string
      : string | undefined
    : boolean
}

/** Wrong usage. Printed without a stack trace. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export function parseFlags<F extends Flags>(flags: F, args: readonly string[], env: NodeJS.ProcessEnv): Values<F> {
  const given = parse(flags, args)
  const entries = Object.entries(flags).map(([name, flag]) => {
    const value = given[name] ?? (flag.env === undefined ? undefined : env[flag.env] || undefined) ?? flag.default
    return [name, flag.value === undefined ? parseBoolean(name, value) : value]
  })
  return Object.fromEntries(entries) as Values<F>
}

function parse(flags: Flags, args: readonly string[]): Readonly<Record<string, string | boolean | undefined>> {
  const options = Object.entries(flags).map(([name, { value }]) => [
    name,
    { type: value === undefined ? ('boolean' as const) : ('string' as const) },
  ])
  try {
    const { values } = parseArgs({ args: [...args], options: Object.fromEntries(options), allowNegative: true })
    return values as Readonly<Record<string, string | boolean | undefined>>
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function parseBoolean(name: string, given: string | boolean | undefined): boolean {
  if (typeof given === 'boolean') return given
  if (given === undefined || given === 'false' || given === '0') return false
  if (given === 'true' || given === '1') return true
  throw new UsageError(`--${name} must be true or false, not '${given}'`)
}

/** The help: one line per flag, aligned. */
export function helpOf(flags: Flags): string {
  const rows = Object.entries(flags).map(([name, flag]) => [left(name, flag), right(flag)] as const)
  const width = Math.max(...rows.map(([one]) => one.length))
  return rows.map(([one, other]) => `  ${one.padEnd(width)}  ${other}`).join('\n')
}

function left(name: string, flag: Flag): string {
  return flag.value === undefined ? `--[no-]${name}` : `--${name} ${flag.value}`
}

function right(flag: Flag): string {
  const notes = [
    ...(flag.env === undefined ? [] : [`$${flag.env}`]),
    ...(flag.default === undefined ? [] : [`default ${flag.default}`]),
  ]
  return notes.length === 0 ? flag.help : `${flag.help} (${notes.join(', ')})`
}

/** Parses an integer within bounds. Throws a UsageError that names the bounds. */
export function parseInteger(name: string, text: string, minimum: number, maximum: number): number {
  const number = Number(text)
  if (Number.isInteger(number) && number >= minimum && number <= maximum) return number
  throw new UsageError(`--${name} must be an integer from ${minimum} to ${maximum}, not '${text}'`)
}

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

/** Parses a list of names, such as `a,b`, without repetitions. Throws a UsageError for what cannot be the name of a namespace. */
export function parseNames(name: string, text: string): string[] {
  const names = text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
  const wrong = names.find((one) => !DNS_LABEL.test(one))
  if (wrong !== undefined) throw new UsageError(`--${name} must be a list of names like a,b, not '${wrong}'`)
  return [...new Set(names)]
}
