/** Mutates valid inputs: bits, pieces, numbers, nesting, Unicode, and the values of JSON. */
import type { Dice } from '../random/dice.ts'

const MAX_BYTES = 64 * 1024
const MAX_NESTING = 5_000

/** Texts that parsers often fail on. */
const TOKENS = [
  '',
  '\0',
  '\r\n',
  '\n\n',
  ' ',
  '"',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '/',
  '//',
  '..',
  '%',
  '%zz',
  '&a *a',
  '-1',
  '1e999',
  '-1e-999',
  '0x1',
  'NaN',
  '9'.repeat(400),
  'null',
  'true',
  'undefined',
  '__proto__',
  'constructor',
  'toString',
  '\u{1f600}',
  '\ud800',
  '\u202e',
  'é',
  'a'.repeat(5_000),
]

const VALUES: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  0.1,
  '',
  'x',
  '\0',
  [],
  {},
  [null],
  [[[]]],
  { a: 1 },
  { toString: 1, valueOf: 1, length: -1 },
  'x'.repeat(10_000),
  2 ** 53,
]

export function mutated(seeds: readonly string[], random: Dice, maxBytes = MAX_BYTES): Buffer {
  const text = random.of(seeds)
  const json = random.next() < 0.5 ? withOtherValue(text, random) : undefined
  let bytes: Buffer = Buffer.from(json ?? text)
  const times = json === undefined ? random.below(4) : random.below(2)
  for (let i = 0; i < times; i++) bytes = random.of(CHANGES)(bytes, random, seeds)
  return bytes.subarray(0, maxBytes)
}

type Change = (bytes: Buffer, random: Dice, seeds: readonly string[]) => Buffer

const CHANGES: readonly Change[] = [
  (bytes, random) => {
    const copy = Buffer.from(bytes)
    const at = random.below(copy.length)
    if (copy.length > 0) copy[at] = (copy[at] ?? 0) ^ (1 << random.below(8))
    return copy
  },
  (bytes, random) => bytes.subarray(0, random.below(bytes.length + 1)),
  (bytes, random) => spliced(bytes, random, Buffer.from(random.of(TOKENS))),
  (bytes, random) => spliced(bytes, random, slice(bytes, random)),
  (bytes, random, seeds) => spliced(bytes, random, slice(Buffer.from(random.of(seeds)), random)),
  (bytes, random) => spliced(bytes, random, repeated(slice(bytes, random).subarray(0, 64), random)),
  (bytes, random) => spliced(bytes, random, repeated(Buffer.from(random.of(['[', '{"a":', '(', '- ', '/a'])), random)),
  (bytes, random) => spliced(bytes, random, Buffer.from(Array.from({ length: 16 }, () => random.below(256)))),
]

/** Replaces some bytes, maybe none, by others. */
function spliced(bytes: Buffer, random: Dice, others: Buffer): Buffer {
  const at = random.below(bytes.length + 1)
  const removed = random.next() < 0.5 ? 0 : random.below(16)
  return Buffer.concat([bytes.subarray(0, at), others, bytes.subarray(at + removed)])
}

function slice(bytes: Buffer, random: Dice): Buffer {
  const at = random.below(bytes.length + 1)
  return bytes.subarray(at, at + random.below(256))
}

function repeated(bytes: Buffer, random: Dice): Buffer {
  const times = random.below(Math.min(MAX_NESTING, Math.floor(MAX_BYTES / Math.max(1, bytes.length))))
  return bytes.length === 0 ? bytes : Buffer.alloc(times * bytes.length, bytes)
}

/** The same JSON with one value replaced or removed. Undefined if the text is not JSON. */
function withOtherValue(text: string, random: Dice): string | undefined {
  let root: unknown
  try {
    root = JSON.parse(text)
  } catch {
    return undefined
  }
  const places: { readonly parent: Record<string, unknown>; readonly key: string }[] = []
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    const parent = node as Record<string, unknown>
    for (const key of Object.keys(parent)) {
      places.push({ parent, key })
      visit(parent[key])
    }
  }
  visit(root)
  if (places.length === 0) return undefined
  const { parent, key } = random.of(places)
  const choice = random.next()
  if (choice < 0.2) delete parent[key]
  else if (choice < 0.4) parent[key] = random.of(places).parent
  else parent[key] = random.of(VALUES)
  try {
    return JSON.stringify(root)
  } catch {
    return undefined // the value contains itself
  }
}
