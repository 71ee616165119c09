/**
 * Which of two resourceVersions came first. The API server's are decimal numbers that grow with every write; those of
 * an aggregated API may be anything, and then nothing can be said.
 */
export function isOlder(a: string, b: string): boolean {
  return isNumber(a) && isNumber(b) && BigInt(a) < BigInt(b)
}

function isNumber(version: string): boolean {
  return /^\d+$/.test(version)
}
