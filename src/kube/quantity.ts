/**
 * Kubernetes quantities (`500m`, `1.5Gi`, `12e3`) as exact numbers: a whole count of nano-units in a BigInt, so that
 * nothing is lost or rounded in sums and comparisons. Reading and canonical writing follow the API server's rules:
 * finer than one nano rounds away from zero, and magnitudes are capped at 2⁶³−1.
 */

export type QuantityFormat = 'decimal' | 'binary' | 'exponent'

export interface Quantity {
  readonly nano: bigint
  /** The family of suffixes it was written with, and is written back with. */
  readonly format: QuantityFormat
}

const NANO = 1_000_000_000n
const MAX_NANO = (2n ** 63n - 1n) * NANO
const MAX_LENGTH = 100

const decimalSuffixes = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E']
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']

const syntax =
  /^(?<sign>[+-]?)(?<whole>\d*)(?:\.(?<fraction>\d*))?(?:(?<binary>[KMGTPE]i)|[eE](?<exponent>[+-]?\d+)|(?<decimal>[numkMGTPE]))?$/

/** Throws a RangeError that quotes the text when it is not a quantity. */
export function parseQuantity(input: string | number): Quantity {
  const text = String(input)
  const parts = text.length <= MAX_LENGTH ? syntax.exec(text)?.groups : undefined
  const digits = parts ? `${parts.whole ?? ''}${parts.fraction ?? ''}` : ''
  if (!parts || digits === '') {
    throw new RangeError(
      `${JSON.stringify(text.slice(0, MAX_LENGTH))} is not a quantity such as "500m", "2" or "1.5Gi"`,
    )
  }
  const { format, multiplier, power } = scaleOf(parts)
  const tens = power + 9 - (parts.fraction?.length ?? 0)
  const magnitude = scaled(BigInt(digits) * multiplier, tens)
  const capped = magnitude > MAX_NANO ? MAX_NANO : magnitude
  return { nano: parts.sign === '-' ? -capped : capped, format }
}

/** Negative, zero or positive as `a` is less than, equal to or greater than `b`; fits `Array.sort`. */
export function compareQuantity(a: Quantity, b: Quantity): number {
  return a.nano === b.nano ? 0 : a.nano < b.nano ? -1 : 1
}

/** Keeps the format of `a`, unless `a` is zero and so has nothing to say. */
export function addQuantity(a: Quantity, b: Quantity): Quantity {
  return { nano: a.nano + b.nano, format: a.nano === 0n ? b.format : a.format }
}

/** As a plain number, with the precision a double has: for ratios and metrics, not for sums. */
export function quantityNumber({ nano }: Quantity): number {
  return Number(nano / NANO) + Number(nano % NANO) / Number(NANO)
}

/**
 * The canonical text: the largest suffix that leaves a whole number. The API server writes the same when it has
 * computed a quantity; some spellings it merely read, such as `1E3` or `+3`, it gives back as they were.
 */
export function formatQuantity({ nano, format }: Quantity): string {
  const magnitude = nano < 0n ? -nano : nano
  const isWhole = magnitude % NANO === 0n
  const binary = format === 'binary' && isWhole && magnitude >= 1024n * NANO
  const text = binary ? binaryText(magnitude / NANO) : decimalText(magnitude, format === 'exponent')
  return nano < 0n ? `-${text}` : text
}

interface Scale {
  readonly format: QuantityFormat
  readonly multiplier: bigint
  readonly power: number
}

/** An exponent beyond ±200 cannot matter: with at most a hundred digits it only caps or rounds, as ±200 does too. */
function scaleOf({ binary, exponent, decimal }: Record<string, string | undefined>): Scale {
  if (binary !== undefined) {
    return { format: 'binary', multiplier: 1024n ** BigInt(binarySuffixes.indexOf(binary)), power: 0 }
  }
  if (exponent !== undefined) {
    return { format: 'exponent', multiplier: 1n, power: Math.max(-200, Math.min(200, Number(exponent))) }
  }
  return { format: 'decimal', multiplier: 1n, power: 3 * decimalSuffixes.indexOf(decimal ?? '') - 9 }
}

/** `value × 10^tens`, rounded up to a whole number. */
function scaled(value: bigint, tens: number): bigint {
  if (tens >= 0) return value * 10n ** BigInt(tens)
  const divisor = 10n ** BigInt(-tens)
  return (value + divisor - 1n) / divisor
}

function decimalText(nano: bigint, asExponent: boolean): string {
  const { mantissa, steps } = reduced(nano, 1000n, decimalSuffixes.length - 1)
  if (nano === 0n) return '0'
  if (!asExponent) return `${mantissa}${decimalSuffixes[steps]}`
  return steps === 3 ? `${mantissa}` : `${mantissa}e${3 * steps - 9}`
}

function binaryText(whole: bigint): string {
  const { mantissa, steps } = reduced(whole, 1024n, binarySuffixes.length - 1)
  return `${mantissa}${binarySuffixes[steps]}`
}

function reduced(value: bigint, base: bigint, maxSteps: number): { mantissa: bigint; steps: number } {
  let mantissa = value
  let steps = 0
  while (steps < maxSteps && mantissa !== 0n && mantissa % base === 0n) {
    mantissa /= base
    steps += 1
  }
  return { mantissa, steps }
}
