/**
 * Whether resourceVersion `a` is older than `b`. The API server uses decimal numbers that grow with every write. Those of
 * an aggregated API may have any form; they cannot be compared, and the result is false.
 */
export function isOlder(a: string, b: string): boolean {
  return isNumber(a) && isNumber(b) && BigInt(a) < BigInt(b)
}

function isNumber(version: string): boolean {
  return /^\d+$/.test(version)
}
