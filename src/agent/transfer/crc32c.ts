/** CRC-32C (Castagnoli), the checksum of objects in Google Cloud Storage. Node implements only CRC-32. */

const REVERSED_POLYNOMIAL = 0x82f63b78

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = (value & 1) === 1 ? (value >>> 1) ^ REVERSED_POLYNOMIAL : value >>> 1
  return value >>> 0
})

/** `before` is the checksum of the bytes before these. */
export function crc32c(bytes: Uint8Array, before = 0): number {
  let value = ~before
  // An index is twice as fast as an iterator, which matters for billions of bytes.
  for (let at = 0; at < bytes.length; at++) {
    value = (table[(value ^ (bytes[at] as number)) & 0xff] as number) ^ (value >>> 8)
  }
  return ~value >>> 0
}
