/**
 * A DER encoder for the ASN.1 types of a certificate. Each function returns one complete element (tag, length, value);
 * nest elements with `sequence` and `set`.
 */

const CONSTRUCTED = 0x20

function element(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const value = Buffer.concat(parts)
  return Buffer.concat([Buffer.from([tag]), length(value.length), value])
}

/** Short form below 128, otherwise the number of length bytes followed by the length, big-endian. */
function length(size: number): Buffer {
  if (size < 0x80) return Buffer.from([size])
  const hex = size.toString(16)
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
  return Buffer.concat([Buffer.from([0x80 | bytes.length]), bytes])
}

export const sequence = (...parts: readonly Uint8Array[]): Buffer => element(0x10 | CONSTRUCTED, ...parts)
export const set = (...parts: readonly Uint8Array[]): Buffer => element(0x11 | CONSTRUCTED, ...parts)
export const octetString = (value: Uint8Array): Buffer => element(0x04, value)
export const utf8String = (text: string): Buffer => element(0x0c, Buffer.from(text, 'utf8'))
export const boolean = (value: boolean): Buffer => element(0x01, Buffer.from([value ? 0xff : 0x00]))

/** Context-specific `[number]`, wrapping whole elements. */
export const explicit = (number: number, ...parts: readonly Uint8Array[]): Buffer =>
  element(0x80 | CONSTRUCTED | number, ...parts)

/** Context-specific `[number]`, replacing the tag of a primitive value. */
export const implicit = (number: number, value: Uint8Array): Buffer => element(0x80 | number, value)

/** An unsigned integer of any size. A leading zero keeps the sign bit clear; other leading zeros are dropped. */
export function integer(value: Uint8Array): Buffer {
  const first = value.findIndex((byte) => byte !== 0)
  const digits = first === -1 ? Buffer.from([0]) : Buffer.from(value.subarray(first))
  const negative = (digits[0] ?? 0) >= 0x80
  return element(0x02, ...(negative ? [Buffer.from([0]), digits] : [digits]))
}

/** A bit string. The lowest `unused` bits of the last byte have no meaning. */
export const bitString = (value: Uint8Array, unused = 0): Buffer => element(0x03, Buffer.from([unused]), value)

/** Dotted notation: `2.5.4.3`. */
export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  return element(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
}

function base128(value: number): number[] {
  const bytes = [value & 0x7f]
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes.unshift((rest & 0x7f) | 0x80)
  return bytes
}

/** Certificates write years before 2050 with two digits and later ones with four (RFC 5280, 4.1.2.5). */
export function time(date: Date): Buffer {
  const digits = `${date.toISOString().replaceAll(/\D/g, '').slice(0, 14)}Z`
  return date.getUTCFullYear() < 2050
    ? element(0x17, Buffer.from(digits.slice(2), 'ascii'))
    : element(0x18, Buffer.from(digits, 'ascii'))
}
