/** GET over HTTP: redirects that are few and keep their secrets, proxies of the environment, errors that can be judged. */
import { type Dispatcher, EnvHttpProxyAgent, request } from 'undici'

import { FetchError, TransientError } from '../error.ts'
import { shownUri } from '../uri.ts'

export type Headers = Readonly<Record<string, string>>

export interface HttpAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Dispatcher.ResponseData['body']
}

export type HttpGet = (url: URL, headers: Headers, signal: AbortSignal) => Promise<HttpAnswer>

const MAX_REDIRECTS = 10
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308]
const CONNECT_MS = 10_000
const SILENCE_MS = 60_000

export function httpClient(env: NodeJS.ProcessEnv): HttpGet {
  const dispatcher = new EnvHttpProxyAgent({
    ...proxies(env),
    connect: { timeout: CONNECT_MS },
    headersTimeout: SILENCE_MS,
    bodyTimeout: SILENCE_MS,
  })
  return (url, headers, signal) => follow(url, headers, { dispatcher, signal })
}

function proxies(env: NodeJS.ProcessEnv) {
  const httpProxy = env['http_proxy'] ?? env['HTTP_PROXY']
  const httpsProxy = env['https_proxy'] ?? env['HTTPS_PROXY']
  const noProxy = env['no_proxy'] ?? env['NO_PROXY']
  return {
    ...(httpProxy !== undefined && { httpProxy }),
    ...(httpsProxy !== undefined && { httpsProxy }),
    ...(noProxy !== undefined && { noProxy }),
  }
}

interface Way {
  readonly dispatcher: Dispatcher
  readonly signal: AbortSignal
}

async function follow(start: URL, headers: Headers, way: Way): Promise<HttpAnswer> {
  let url = start
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const answer = await once(url, url.origin === start.origin ? headers : withoutSecrets(headers), way)
    const location = answer.headers['location']
    if (!REDIRECTS.includes(answer.status) || location === undefined) return answer
    await answer.body.dump()
    url = next(url, location)
  }
  throw new FetchError('Invalid', `${shownUri(start.href)} redirects more than ${MAX_REDIRECTS} times`)
}

/** Made for one server, and for no other that it may point at. */
function withoutSecrets(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'authorization'))
}

function next(from: URL, location: string): URL {
  const to = URL.canParse(location, from.href) ? new URL(location, from.href) : undefined
  const isSafe = to?.protocol === 'https:' || (to?.protocol === 'http:' && from.protocol === 'http:')
  if (to !== undefined && isSafe) return to
  const where = to === undefined ? 'nowhere' : shownUri(to.href)
  throw new FetchError('Invalid', `${shownUri(from.href)} redirects to ${where}, which is not followed`)
}

async function once(url: URL, headers: Headers, { dispatcher, signal }: Way): Promise<HttpAnswer> {
  try {
    const { statusCode, headers: answered, body } = await request(url, { headers: { ...headers }, dispatcher, signal })
    const single = Object.entries(answered).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value])
    // An error in a body that nobody reads to its end must not end the process.
    body.on('error', () => {})
    return { status: statusCode, headers: Object.fromEntries(single) as HttpAnswer['headers'], body }
  } catch (error) {
    signal.throwIfAborted()
    throw new TransientError(`${shownUri(url.href)}: ${textOf(error)}`, { cause: error })
  }
}

function textOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(textOf).join('; ')
  return error instanceof Error ? error.message : String(error)
}
