/** Sends progress reports of many jobs, as their pods do: by HTTPS, each with the token of its pod. */
import { setTimeout as delay } from 'node:timers/promises'
import { Pool } from 'undici'
import { reportPath } from '../../src/api/training-report.ts'

export interface Reporter {
  readonly namespace: string
  readonly job: string
  readonly token: string
}

export interface LoadTarget {
  readonly port: number
  readonly ca: string
  readonly serverName: string
}

export interface SentReports {
  readonly seconds: number
  /** Responses by status code; 0: no response. */
  readonly codes: ReadonlyMap<number, number>
}

const CONNECTIONS = 64
const TICK_MS = 50

/** Offers this many reports a second, as far as the responses permit. The step of a job increases with each report. */
export async function sendReports(
  target: LoadTarget,
  reporters: readonly Reporter[],
  { perSecond, seconds }: { readonly perSecond: number; readonly seconds: number },
): Promise<SentReports> {
  const { ca, serverName: servername, port } = target
  const pool = new Pool(`https://127.0.0.1:${port}`, { connections: CONNECTIONS, connect: { ca, servername } })
  const codes = new Map<number, number>()
  let sent = 0
  const send = async (): Promise<void> => {
    const { namespace, job, token } = reporters[sent % reporters.length] ?? { namespace: '', job: '', token: '' }
    sent += 1
    const body = JSON.stringify({ step: sent, totalSteps: 100_000_000, loss: 1 / sent, metrics: { lr: 0.001 } })
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const code = await pool
      .request({ method: 'POST', path: reportPath(namespace, job), headers, body })
      .then(async (answer) => (await answer.body.dump(), answer.statusCode))
      .catch(() => 0)
    codes.set(code, (codes.get(code) ?? 0) + 1)
  }
  const began = performance.now()
  const lane = async (): Promise<void> => {
    for (let now = 0; now < seconds * 1000; now = performance.now() - began)
      if (sent < (now / 1000) * perSecond) await send()
      else await delay(TICK_MS)
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, lane))
  const took = (performance.now() - began) / 1000
  await pool.close()
  return { seconds: took, codes }
}
