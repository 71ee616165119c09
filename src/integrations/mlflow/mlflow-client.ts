/**
 * The part of MLflow's REST API that the operator uses. The server is configured by the administrator and still not trusted:
 * every call has a time limit, responses have a size limit, redirects are not followed, and unexpected responses are errors.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Agent, request } from 'undici'

export interface MlflowConfig {
  /** Empty: jobs are not tracked. */
  readonly url: string
  /** Directory with `token`, or with `username` and `password`. Empty: no credentials. */
  readonly credentialsDirectory: string
  /** Certificates to trust, PEM. Empty: those of the system. */
  readonly caFile: string
  /** Precedes the names of experiments. `{namespace}` is replaced by the namespace of the job. */
  readonly experimentPrefix: string
  /** Precedes the names of registered models. */
  readonly modelPrefix: string
  /** Time limit of one call. */
  readonly timeoutMs: number
}

export const defaultMlflowConfig: MlflowConfig = {
  url: '',
  credentialsDirectory: '',
  caFile: '',
  experimentPrefix: '{namespace}/',
  modelPrefix: '{namespace}.',
  timeoutMs: 10_000,
}

const MAX_RESPONSE = 1024 * 1024
const MAX_MESSAGE = 300

/** MLflow has answered, and the same request would fail again. */
export class RejectedError extends Error {
  override readonly name = 'RejectedError'
  /** `RESOURCE_DOES_NOT_EXIST`, `RESOURCE_ALREADY_EXISTS`, … */
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

export type Json = Readonly<Record<string, unknown>>
export type Call = (method: 'GET' | 'POST', endpoint: string, body: Json) => Promise<Json>

export interface MlflowClient {
  readonly url: string
  readonly call: Call
  close(): Promise<void>
}

export async function mlflowClient(config: MlflowConfig): Promise<MlflowClient> {
  const url = config.url.replace(/\/+$/, '')
  const ca = config.caFile === '' ? undefined : await readFile(config.caFile, 'utf8')
  const agent = new Agent({ connections: 8, ...(ca !== undefined && { connect: { ca } }) })
  const call: Call = async (method, endpoint, body) => {
    const query = method === 'GET' ? `?${new URLSearchParams(body as Record<string, string>).toString()}` : ''
    const answer = await request(`${url}/api/2.0/mlflow/${endpoint}${query}`, {
      method,
      dispatcher: agent,
      signal: AbortSignal.timeout(config.timeoutMs),
      headers: { 'content-type': 'application/json', ...(await authorization(config)) },
      ...(method === 'POST' && { body: JSON.stringify(body) }),
    })
    return parsed(answer.statusCode, await readBounded(answer.body), endpoint)
  }
  return { url, call, close: () => agent.destroy() }
}

/** Read for every call, so that a renewed credential is used at once. */
async function authorization({ credentialsDirectory: directory }: MlflowConfig): Promise<Record<string, string>> {
  if (directory === '') return {}
  const read = async (name: string): Promise<string | undefined> =>
    (await readFile(join(directory, name), 'utf8').catch(() => undefined))?.trim()
  const token = await read('token')
  if (token !== undefined) return { authorization: `Bearer ${token}` }
  const [username, password] = [await read('username'), await read('password')]
  if (username === undefined || password === undefined)
    throw new Error(`${directory} has neither a file token nor the files username and password`)
  return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }
}

async function readBounded(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    if (length > MAX_RESPONSE) throw new Error(`the response of MLflow is larger than ${MAX_RESPONSE} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Codes of rejections that a later attempt may not get. */
const RETRIED: readonly number[] = [401, 403, 408, 425, 429]

function parsed(status: number, text: string, endpoint: string): Json {
  const value = parseJson(text)
  if (status === 200 && value) return value
  const code = typeof value?.['error_code'] === 'string' ? value['error_code'] : ''
  const detail = typeof value?.['message'] === 'string' ? `: ${value['message'].slice(0, MAX_MESSAGE)}` : ''
  if (status >= 400 && status < 500 && code !== '' && !RETRIED.includes(status))
    throw new RejectedError(code, `MLflow rejected ${endpoint} with ${status}${detail}`)
  throw new Error(`MLflow answered ${endpoint} with ${status}${status === 200 ? ' and no JSON object' : detail}`)
}

function parseJson(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined
  } catch {
    return undefined
  }
}
