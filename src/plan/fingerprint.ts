/**
 * Eight characters that differ when the text does, with all likelihood: to notice a change, never to trust a content
 * (FNV-1a of 32 bits). Letters and digits only, so that it can end a name.
 */
export function fingerprint(text: string): string {
  let hash = 0x811c9dc5
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, '0')
}
