/**
 * The connections of one client. Calls share a bounded pool of kept-alive HTTP/1.1 sockets. Watches and followed logs hold
 * a socket for minutes, so they have a pool of their own: no number of watches can starve a call. Comparison with HTTP/2:
 * docs/decisions/0001-http-transport.md.
 */
import { Pool, ProxyAgent } from 'undici'
import type { Dispatcher } from 'undici'
import type { ClientConfig, Credential } from './client-config.ts'
import { ConnectionError } from './errors.ts'
import { exchange, TimeoutError } from './exchange.ts'
import type { Call, Response } from './interceptor.ts'

/** Less than the 90 s after which the API server closes idle connections, so that the client closes them first. */
const IDLE_MS = 60_000
const CONNECT_TIMEOUT_MS = 10_000
/** The kernel probes a silent peer after this time, then ten times each second: it detects a lost machine in 25 s. */
const KEEPALIVE_AFTER_MS = 15_000
const CALL_SOCKETS = 32

interface Sockets {
  readonly credential: Credential
  readonly calls: Dispatcher
  readonly streams: Dispatcher
}

export class Transport {
  readonly #config: ClientConfig
  readonly #userAgent: string
  readonly #origin: string
  readonly #basePath: string
  #sockets: Sockets | undefined
  /** All pools that are not closed yet, also retired ones: a watch may still use them. */
  readonly #open = new Set<Dispatcher>()
  #closed = false

  constructor(config: ClientConfig, userAgent: string) {
    const url = new URL(config.server)
    this.#config = config
    this.#userAgent = userAgent
    this.#origin = url.origin
    this.#basePath = url.pathname.replace(/\/+$/, '')
  }

  /** Throws a ConnectionError if there is no response, and the signal's reason if the caller aborts. */
  async send(call: Call, credential: Credential): Promise<Response> {
    if (this.#closed) throw new Error(`${call.verb} ${call.path}: the client is closed`)
    const sockets = this.#socketsFor(credential)
    const wire = {
      dispatcher: call.stream ? sockets.streams : sockets.calls,
      origin: this.#origin,
      basePath: this.#basePath,
      headers: this.#headers(call, credential),
    }
    try {
      return await exchange(wire, call)
    } catch (error) {
      if (error instanceof ConnectionError && error.cause instanceof TimeoutError) this.#retire(sockets)
      throw error
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([...this.#open].map((dispatcher) => dispatcher.destroy()))
  }

  #headers({ stream, contentType, subresource }: Call, { token }: Credential): Record<string, string> {
    const headers: Record<string, string> = { accept: 'application/json', 'user-agent': this.#userAgent }
    if (token !== undefined) headers.authorization = `Bearer ${token}`
    if (contentType !== undefined) headers['content-type'] = contentType
    if (stream || subresource === 'log') headers.accept = 'application/json, */*'
    return headers
  }

  /** Certificates belong to a connection, not to a request: a new certificate or CA needs new connections. */
  #socketsFor(credential: Credential): Sockets {
    const current = this.#sockets
    if (current && isSameConnection(current.credential, credential)) return current
    if (current) this.#retire(current)
    const [calls, streams] = [this.#dispatcher(credential, CALL_SOCKETS), this.#dispatcher(credential, null)]
    this.#sockets = { credential, calls, streams }
    return this.#sockets
  }

  /**
   * Retires all sockets after a timeout. If one was dead, the idle ones probably are too, and each would cost the next
   * call a full timeout. Running requests may finish.
   */
  #retire(sockets: Sockets): void {
    if (this.#sockets !== sockets) return
    this.#sockets = undefined
    for (const dispatcher of [sockets.calls, sockets.streams]) dispatcher.close(() => this.#open.delete(dispatcher))
  }

  #dispatcher(credential: Credential, connections: number | null): Dispatcher {
    const { tlsServerName, insecureSkipTlsVerify, proxyUrl } = this.#config
    const ca = credential.ca ?? this.#config.ca
    const tls = {
      timeout: CONNECT_TIMEOUT_MS,
      keepAliveInitialDelay: KEEPALIVE_AFTER_MS,
      rejectUnauthorized: insecureSkipTlsVerify !== true,
      ...(ca === undefined ? {} : { ca }),
      ...(tlsServerName === undefined ? {} : { servername: tlsServerName }),
      ...(credential.cert === undefined ? {} : { cert: credential.cert, key: credential.key }),
    }
    const pool = {
      connections,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MS,
      headersTimeout: 0,
      bodyTimeout: 0,
    }
    const dispatcher =
      proxyUrl === undefined
        ? new Pool(this.#origin, { ...pool, connect: tls })
        : new ProxyAgent({ ...pool, uri: proxyUrl, requestTls: tls })
    this.#open.add(dispatcher)
    return dispatcher
  }
}

function isSameConnection(a: Credential, b: Credential): boolean {
  return a.cert === b.cert && a.key === b.key && a.ca === b.ca
}
