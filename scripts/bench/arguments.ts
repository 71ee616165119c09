/** The command line of a benchmark: positive integers in a fixed order, and `--help`. */
import { parseArgs } from 'node:util'

type Numbers<D extends readonly number[]> = { readonly [index in keyof D]: number }

/** Omitted numbers have their defaults. Prints the help and exits on `--help`; prints the error and exits on wrong usage. */
export function benchmarkArguments<const D extends readonly number[]>(help: string, defaults: D): Numbers<D> {
  try {
    const { values, positionals } = parseArgs({
      options: { help: { type: 'boolean', default: false } },
      allowPositionals: true,
    })
    return values.help ? exitWithHelp(help) : (numbers(positionals, defaults) as Numbers<D>)
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error))
    return process.exit(1)
  }
}

function exitWithHelp(help: string): never {
  console.log(help)
  process.exit(0)
}

function numbers(given: readonly string[], defaults: readonly number[]): number[] {
  if (given.length > defaults.length) throw new Error(`unexpected argument '${given[defaults.length]}'`)
  const wrong = given.find((text) => !(Number.isInteger(Number(text)) && Number(text) > 0))
  if (wrong !== undefined) throw new Error(`'${wrong}' is not a positive integer`)
  return defaults.map((value, index) => Number(given[index] ?? value))
}
