/**
 * Flags of a command, declared once: what they are called, what they mean, where else they may come from. The command
 * line wins over the environment, the environment over the default.
 */
import { parseArgs } from 'node:util'

export interface Flag {
  /** Shown in the help in place of the value; a flag without one is a switch, `--name` or `--no-name`. */
  readonly value?: string
  /** The variable of the environment that is asked when the flag is not given. */
  readonly env?: string
  readonly default?: string
  readonly help: string
}

export type Flags = Readonly<Record<string, Flag>>

/** The values of all flags: text as given, `true` or `false` for switches, undefined where nothing was said. */
export type Values<F extends Flags> = {
  readonly [name in keyof F]: F[name] extends { readonly value: string }
    ? F[name] extends { readonly default: string }
      ? string
      : string | undefined
    : boolean
}

/** Said to the person who typed it, without a stack. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export function parseFlags<F extends Flags>(flags: F, args: readonly string[], env: NodeJS.ProcessEnv): Values<F> {
  const given = parsed(flags, args)
  const entries = Object.entries(flags).map(([name, flag]) => {
    const said = given[name] ?? (flag.env === undefined ? undefined : env[flag.env] || undefined) ?? flag.default
    return [name, flag.value === undefined ? isOn(name, said) : said]
  })
  return Object.fromEntries(entries) as Values<F>
}

function parsed(flags: Flags, args: readonly string[]): Readonly<Record<string, string | boolean | undefined>> {
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

function isOn(name: string, said: string | boolean | undefined): boolean {
  if (typeof said === 'boolean') return said
  if (said === undefined || said === 'false' || said === '0') return false
  if (said === 'true' || said === '1') return true
  throw new UsageError(`${name} is either true or false, not '${said}'`)
}

/** One line per flag, the explanations aligned. */
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

/** A whole number within bounds, or a UsageError that says which. */
export function wholeNumber(name: string, text: string, minimum: number, maximum: number): number {
  const number = Number(text)
  if (Number.isInteger(number) && number >= minimum && number <= maximum) return number
  throw new UsageError(`--${name} is a whole number from ${minimum} to ${maximum}, not '${text}'`)
}
