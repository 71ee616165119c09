/** A time as in `lastTransitionTime` and other fields of type `Time`: RFC 3339 with whole seconds. */
export function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}

/**
 * A time of type `MicroTime` (Lease, Event): exactly six fractional digits. The server rejects the three digits of
 * `toISOString` with 400.
 */
export function microTime(date: Date): string {
  return date.toISOString().replace('Z', '000Z')
}
