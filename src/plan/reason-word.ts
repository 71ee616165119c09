/** A reason that the schema of conditions accepts. Reasons of nodes and containers may not be: `OutOfnvidia.com/gpu`. */
export function reasonWord(reason: string): string {
  const letters = reason.replaceAll(/[^A-Za-z0-9_]/g, '_').slice(0, MAX_REASON)
  return /^[A-Za-z]/.test(letters) ? letters : `Reason${letters}`
}

const MAX_REASON = 128
