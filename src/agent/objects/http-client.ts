/** Requests over HTTP. GET follows a limited number of redirects without leaking credentials. Uses the proxies of the environment. */
import { Agent, type Dispatcher, ProxyAgent, request } from 'undici'

import { proxyFor } from '../../kube/proxy.ts'
import { codeOf, TransferError, TransientError } from '../transfer/error.ts'
import { shownUri } from '../transfer/uri.ts'

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
const IDLE_MS = 60_000

export function httpClient(env: NodeJS.ProcessEnv): HttpGet {
  const dispatcherFor = dispatchers(env)
  return (url, headers, signal) => follow(url, headers, { dispatcherFor, signal })
}

export interface HttpRequest {
  readonly method: 'POST' | 'PUT' | 'DELETE'
  readonly headers: Headers
  readonly body?: Uint8Array | string
}

export type HttpSend = (url: URL, request: HttpRequest, signal: AbortSignal) => Promise<HttpAnswer>

/** Sends requests that change something. Follows no redirects. */
export function httpSender(env: NodeJS.ProcessEnv): HttpSend {
  const dispatcherFor = dispatchers(env)
  return (url, sent, signal) => exchange(url, sent, { dispatcherFor, signal })
}

function dispatchers(env: NodeJS.ProcessEnv): (url: URL) => Dispatcher {
  const options = { connect: { timeout: CONNECT_MS }, headersTimeout: IDLE_MS, bodyTimeout: IDLE_MS }
  const direct = new Agent(options)
  const proxies = new Map<string, Dispatcher>()
  return (url) => {
    const uri = proxyFor(url.href, env)
    if (uri === undefined) return direct
    const proxy = proxies.get(uri) ?? new ProxyAgent({ ...options, uri })
    proxies.set(uri, proxy)
    return proxy
  }
}

interface Connection {
  readonly dispatcherFor: (url: URL) => Dispatcher
  readonly signal: AbortSignal
}

async function follow(start: URL, headers: Headers, connection: Connection): Promise<HttpAnswer> {
  let url = start
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const shown = url.origin === start.origin ? headers : withoutSecrets(headers)
    const answer = await exchange(url, { method: 'GET', headers: shown }, connection)
    const location = answer.headers['location']
    if (!REDIRECTS.includes(answer.status) || location === undefined) return answer
    await answer.body.dump()
    url = redirectTarget(url, location)
  }
  throw new TransferError('Invalid', `${shownUri(start.href)} redirects more than ${MAX_REDIRECTS} times`)
}

/** Credentials are for the first server only, not for redirect targets. */
function withoutSecrets(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'authorization'))
}

function redirectTarget(from: URL, location: string): URL {
  const to = URL.canParse(location, from.href) ? new URL(location, from.href) : undefined
  const isSafe = to?.protocol === 'https:' || (to?.protocol === 'http:' && from.protocol === 'http:')
  if (to !== undefined && isSafe) return to
  const where = to === undefined ? 'nowhere' : shownUri(to.href)
  throw new TransferError('Invalid', `${shownUri(from.href)} redirects to ${where}, which is not followed`)
}

type Exchange = Omit<HttpRequest, 'method'> & { readonly method: HttpRequest['method'] | 'GET' }

async function exchange(
  url: URL,
  { method, headers, body: sent }: Exchange,
  { dispatcherFor, signal }: Connection,
): Promise<HttpAnswer> {
  try {
    const dispatcher = dispatcherFor(url)
    const options = { method, headers: { ...headers }, dispatcher, signal, body: sent ?? null }
    const { statusCode, headers: answered, body } = await request(url, options)
    const single = Object.entries(answered).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value])
    // The error of a body that is not read to its end must not end the process.
    body.on('error', () => {})
    return { status: statusCode, headers: Object.fromEntries(single) as HttpAnswer['headers'], body }
  } catch (error) {
    signal.throwIfAborted()
    if (UNTRUSTED.has(codeOf(error) ?? '')) throw untrusted(url, error)
    throw new TransientError(`${shownUri(url.href)}: ${textOf(error)}`, { cause: error })
  }
}

/** A retry does not help: the certificate of the server is not trusted. */
const UNTRUSTED: ReadonlySet<string> = new Set([
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

function untrusted(url: URL, error: unknown): TransferError {
  const fix = 'add the certificate of its CA to spec.storage.caBundle, or renew the certificate'
  return new TransferError('Unreachable', `${shownUri(url.href)}: ${textOf(error)}: ${fix}`, { cause: error })
}

function textOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(textOf).join('; ')
  return error instanceof Error ? error.message : String(error)
}
