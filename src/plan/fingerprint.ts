/**
 * A 32-bit hash (FNV-1a) in eight hexadecimal digits, which can end a name. It detects changes; it does not protect against
 * manipulation.
 */
export function fingerprint(text: string): string {
  let hash = 0x811c9dc5
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, '0')
}
