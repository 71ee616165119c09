/**
 * The part of Prometheus' HTTP API that the operator uses. The server is configured by the administrator and still not trusted:
 * calls have a time limit, answers have a size limit, redirects are not followed, and there are few connections.
 */
import { readFile } from 'node:fs/promises'
import { Agent, request } from 'undici'
import { parseAnswer, PrometheusError } from './query-answer.ts'

export interface PrometheusConfig {
  /** Empty: Prometheus is not asked. */
  readonly url: string
  /** File with a bearer token. Empty: no credentials. */
  readonly tokenFile: string
  /** Certificates to trust, PEM. Empty: those of the system. */
  readonly caFile: string
  /** Time limit of all queries about one model. */
  readonly timeoutMs: number
  /** Matchers of every selector, beside that of the namespace, such as `cluster`. */
  readonly labels: Readonly<Record<string, string>>
  /** Label with the namespace of a series. Every query of a user is restricted to that of the model by it. */
  readonly namespaceLabel: string
  /** Seconds that the figures of the status look back. At least two scrapes have to be in them. */
  readonly rateSeconds: number
  /** Seconds after which figures are read again. */
  readonly refreshSeconds: number
}

export const defaultPrometheusConfig: PrometheusConfig = {
  url: '',
  tokenFile: '',
  caFile: '',
  timeoutMs: 5_000,
  labels: {},
  namespaceLabel: 'namespace',
  rateSeconds: 120,
  refreshSeconds: 30,
}

const MAX_ANSWER = 256 * 1024
const CONNECTIONS = 8

export interface PrometheusClient {
  /** The number that the query has at a time, in milliseconds of the epoch. Throws a `PrometheusError`. */
  query(query: string, at: number, signal: AbortSignal): Promise<number | undefined>
  close(): Promise<void>
}

export async function prometheusClient(
  config: Pick<PrometheusConfig, 'url' | 'tokenFile' | 'caFile'>,
): Promise<PrometheusClient> {
  const url = `${config.url.replace(/\/+$/, '')}/api/v1/query`
  const ca = config.caFile === '' ? undefined : await readFile(config.caFile, 'utf8')
  const agent = new Agent({ connections: CONNECTIONS, ...(ca !== undefined && { connect: { ca } }) })
  return {
    query: async (query, at, signal) => {
      const { statusCode, body } = await request(url, {
        method: 'POST',
        dispatcher: agent,
        signal,
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...(await authorization(config.tokenFile)) },
        body: new URLSearchParams({ query, time: String(at / 1000) }).toString(),
      })
      return parseAnswer(statusCode, await readBounded(body))
    },
    close: () => agent.destroy(),
  }
}

/** Read for every call, so that a renewed token is used at once. */
async function authorization(tokenFile: string): Promise<Record<string, string>> {
  if (tokenFile === '') return {}
  const token = await readFile(tokenFile, 'utf8').catch(() => undefined)
  if (token === undefined) throw new PrometheusError('cannot be asked: prometheus.tokenFile cannot be read')
  return { authorization: `Bearer ${token.trim()}` }
}

async function readBounded(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    if (length > MAX_ANSWER) throw new PrometheusError(`answers with more than ${MAX_ANSWER / 1024} KiB`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
