/**
 * Kubernetes quantities (`500m`, `1.5Gi`, `12e3`) as exact numbers: a whole count of nano-units in a BigInt, so that
 * comparisons lose nothing. Parsing follows the API server's rules: amounts finer than one nano-unit round away from
 * zero, and magnitudes are capped at 2⁶³−1.
 */

export interface Quantity {
  readonly nano: bigint
}

const NANO = 1_000_000_000n
const MAX_NANO = (2n ** 63n - 1n) * NANO
const MAX_LENGTH = 100

const decimalSuffixes = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E']
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']

const syntax =
  /^(?<sign>[+-]?)(?<whole>\d*)(?:\.(?<fraction>\d*))?(?:(?<binary>[KMGTPE]i)|[eE](?<exponent>[+-]?\d+)|(?<decimal>[numkMGTPE]))?$/

/** Throws a RangeError that quotes the text if it is not a quantity. */
export function parseQuantity(input: string | number): Quantity {
  const text = String(input)
  const parts = text.length <= MAX_LENGTH ? syntax.exec(text)?.groups : undefined
  const digits = parts ? `${parts.whole ?? ''}${parts.fraction ?? ''}` : ''
  if (!parts || digits === '') {
    throw new RangeError(
      `${JSON.stringify(text.slice(0, MAX_LENGTH))} is not a quantity such as "500m", "2" or "1.5Gi"`,
    )
  }
  const { multiplier, power } = scaleOf(parts)
  const tens = power + 9 - (parts.fraction?.length ?? 0)
  const magnitude = scaled(BigInt(digits) * multiplier, tens)
  const capped = magnitude > MAX_NANO ? MAX_NANO : magnitude
  return { nano: parts.sign === '-' ? -capped : capped }
}

/** Negative, zero or positive as `a` is less than, equal to or greater than `b`; fits `Array.sort`. */
export function compareQuantity(a: Quantity, b: Quantity): number {
  return a.nano === b.nano ? 0 : a.nano < b.nano ? -1 : 1
}

/** The quantity as a plain number, with the precision of a double: for counts and ratios, not for comparisons. */
export function quantityNumber({ nano }: Quantity): number {
  return Number(nano / NANO) + Number(nano % NANO) / Number(NANO)
}

interface Scale {
  readonly multiplier: bigint
  readonly power: number
}

/** An exponent beyond ±200 cannot matter: with at most a hundred digits it only caps or rounds, as ±200 does too. */
function scaleOf({ binary, exponent, decimal }: Record<string, string | undefined>): Scale {
  if (binary !== undefined) {
    return { multiplier: 1024n ** BigInt(binarySuffixes.indexOf(binary)), power: 0 }
  }
  if (exponent !== undefined) {
    return { multiplier: 1n, power: Math.max(-200, Math.min(200, Number(exponent))) }
  }
  return { multiplier: 1n, power: 3 * decimalSuffixes.indexOf(decimal ?? '') - 9 }
}

/** `value × 10^tens`, rounded up to a whole number. */
function scaled(value: bigint, tens: number): bigint {
  if (tens >= 0) return value * 10n ** BigInt(tens)
  const divisor = 10n ** BigInt(-tens)
  return (value + divisor - 1n) / divisor
}
