/** Reports a checkpoint to the operator, with the token of the pod. */
import { readFile } from 'node:fs/promises'
import { Agent, request } from 'undici'

export interface UploadedCheckpoint {
  readonly path: string
  readonly step: number
}

export type Report = (checkpoint: UploadedCheckpoint) => Promise<void>

const TIMEOUT_MS = 5_000
/** A repetition would be rejected as well. */
const REJECTED: ReadonlySet<number> = new Set([400, 413, 415, 422])

/** Undefined outside of the operator's pods. */
export function reporter(env: NodeJS.ProcessEnv, log: (line: string) => void): Report | undefined {
  const url = env['ML_OPERATOR_REPORT_URL']
  const tokenFile = env['ML_OPERATOR_REPORT_TOKEN_FILE']
  const caFile = env['ML_OPERATOR_REPORT_CA_FILE']
  if (!url?.startsWith('https://') || !tokenFile || !caFile) return undefined
  return async (checkpoint) => {
    // Both files can change.
    const [token, ca] = await Promise.all([readFile(tokenFile, 'utf8'), readFile(caFile, 'utf8')])
    const dispatcher = new Agent({ connect: { ca } })
    try {
      const { statusCode, body } = await request(url, {
        method: 'POST',
        headers: { authorization: `Bearer ${token.trim()}`, 'content-type': 'application/json' },
        body: JSON.stringify({ checkpoint }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
        dispatcher,
      })
      await body.dump()
      if (REJECTED.has(statusCode)) log(`the operator rejects the report of ${checkpoint.path}: ${statusCode}`)
      else if (statusCode >= 300) throw new Error(`the operator answers ${statusCode}`)
    } finally {
      await dispatcher.destroy()
    }
  }
}
