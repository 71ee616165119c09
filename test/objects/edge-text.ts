/** Valid strings of a schema that code often fails on. */
import * as fc from 'fast-check'
import type { JsonSchema } from '../../src/api/structural.ts'
import { between, pick, type Random } from '../random/seeded.ts'

/** The maximum length where a schema sets none. */
const LONG = 2_048

const oddities: readonly string[] = [
  '',
  ' ',
  '0',
  'null',
  '__proto__',
  'constructor',
  '* * * * *',
  '$(PATH) $$(PATH) ${PATH}',
  '%s%n%d',
  '../../etc/passwd',
  'line\nbreak\r\n\ttab',
  'é \u{1D4B3} \u202E \u0000 \uFFFD \u{1F600}',
  '"quoted" \\ `back` <b>&amp;</b>',
  '{"a":[1,{}]}',
  '1e400m',
]

/** Quantities at the limits of a parser. Those that do not match the schema's pattern are dropped. */
const quantities: readonly string[] = [
  '0',
  '.5',
  '1.',
  '1e400',
  '1E-400',
  '1e2147483648',
  '999999999999999999999999999999E',
  '0.000000000000000000001n',
  '9223372036854775807',
  '9223372036854775808',
  '1e400m',
  '-1',
  '8191Pi',
]

/** A string for the schema: sometimes the shortest, the longest or an odd one, otherwise an ordinary one. */
export function edgeText(schema: JsonSchema, random: Random): string {
  if (schema.enum) return pick(random, schema.enum)
  if (schema.format === 'date-time') return new Date(between(random, 0, 4e12)).toISOString()
  const candidates = [...oddities, ...(isQuantity(schema) ? quantities : [])].filter((text) => fitsText(schema, text))
  const roll = random()
  if (candidates.length > 0 && roll < (isQuantity(schema) ? 0.8 : 0.3)) return pick(random, candidates)
  const ordinary = matching(schema, random)
  return roll < 0.85 ? ordinary : longest(schema, ordinary)
}

const isQuantity = ({ pattern = '' }: JsonSchema): boolean => pattern.includes('[KMGTPE]i')

export function fitsText({ pattern, minLength = 0, maxLength = LONG }: JsonSchema, text: string): boolean {
  const length = lengthOf(text)
  return length >= minLength && length <= maxLength && (pattern === undefined || regexOf(pattern).test(text))
}

/** The API server counts code points. */
const lengthOf = (text: string): number => Array.from(text).length

/** The API server's patterns are RE2; ours use nothing that differs in JavaScript. */
function regexOf(pattern: string): RegExp {
  const known = regexes.get(pattern) ?? new RegExp(pattern)
  regexes.set(pattern, known)
  return known
}

const regexes = new Map<string, RegExp>()
const arbitraries = new Map<string, fc.Arbitrary<string>>()

/** An ordinary value that matches the pattern and the lengths. */
function matching(schema: JsonSchema, random: Random): string {
  const { pattern, minLength = 0, maxLength = LONG } = schema
  if (pattern === undefined) return 'x'.repeat(between(random, minLength, Math.min(maxLength, minLength + 12)))
  const arbitrary = arbitraries.get(pattern) ?? fc.stringMatching(regexOf(pattern), { size: 'small' })
  arbitraries.set(pattern, arbitrary)
  const tries = fc.sample(arbitrary, { numRuns: 8, seed: between(random, 0, 2 ** 31 - 1) })
  const found = tries.find((text) => fitsText(schema, text))
  if (found === undefined) throw new Error(`no text of ${minLength} to ${maxLength} characters matches ${pattern}`)
  return found
}

/** As long as the schema allows, by repeating one of the text's own characters where the pattern lets it. */
export function longest(schema: JsonSchema, text: string): string {
  const missing = (schema.maxLength ?? LONG) - lengthOf(text)
  if (missing <= 0 || text === '') return text
  const middle = Math.floor(text.length / 2)
  const positions = [middle, text.length - 1, text.length, 1]
  const letters = [...new Set([text[middle] ?? 'a', text.at(-1) ?? 'a', 'a', '0'])]
  const padded = positions.flatMap((at) =>
    letters.map((letter) => text.slice(0, at) + letter.repeat(missing) + text.slice(at)),
  )
  return padded.find((candidate) => fitsText(schema, candidate)) ?? text
}
