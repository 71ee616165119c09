/**
 * One health check of a pod: `GET path`, and nothing of the answer but its status line. Redirects are not followed. Headers and
 * body are not parsed and not kept: at most `MAX_ANSWER` bytes are read, to let the server end the connection by itself.
 *
 * It uses a bare connection, because a client with a pool costs several times as much, and servers close idle connections
 * before the next check.
 */
import { connect } from 'node:net'

export interface HealthRequest {
  /** An IP address. */
  readonly address: string
  readonly port: number
  readonly path: string
  readonly timeoutMs: number
}

/**
 * `passed`: a status from 200 to 399, as for probes of the kubelet. `failed`: the pod was reached, and answered otherwise or not
 * in time. `unreachable`: there was no connection, which says nothing about the pod.
 */
export type HealthResult =
  | { readonly outcome: 'passed' }
  | { readonly outcome: 'failed'; readonly answer: string }
  | { readonly outcome: 'unreachable' }

const MAX_ANSWER = 16 * 1024
/** `HTTP/1.1 200 `: no status line is decided by more than these bytes. */
const STATUS_LENGTH = 'HTTP/1.1 200'.length
const STATUS_LINE = /^HTTP\/1\.[01] (?<code>[1-5][0-9]{2})$/
const PATH = /^\/[\x21-\x7e]*$/

const PASSED: HealthResult = { outcome: 'passed' }
const UNREACHABLE: HealthResult = { outcome: 'unreachable' }
const failed = (answer: string): HealthResult => ({ outcome: 'failed', answer })

/** Whether the path can be sent as it is. */
export const isRequestPath = (path: string): boolean => PATH.test(path)

/** Never rejects. */
export function checkHealth({ address, port, path, timeoutMs }: HealthRequest): Promise<HealthResult> {
  if (!isRequestPath(path)) return Promise.resolve(UNREACHABLE)
  return new Promise((resolve) => {
    const socket = connect({ host: address, port })
    let isConnected = false
    let head = ''
    let length = 0
    let result: HealthResult | undefined
    const timer = setTimeout(() => {
      result ??= isConnected ? failed('did not answer in time') : UNREACHABLE
      socket.destroy()
    }, timeoutMs)
    socket.on('connect', () => {
      isConnected = true
      socket.write(requestText(address, port, path))
    })
    socket.on('data', (chunk) => {
      if (head.length < STATUS_LENGTH) head += chunk.toString('latin1', 0, STATUS_LENGTH - head.length)
      if (head.length >= STATUS_LENGTH) result ??= resultOf(head)
      length += chunk.length
      if (length > MAX_ANSWER) socket.destroy()
    })
    // Always followed by `close`.
    socket.on('error', () => undefined)
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(result ?? (isConnected ? failed(head === '' ? 'closed the connection' : NO_HTTP) : UNREACHABLE))
    })
  })
}

const NO_HTTP = 'gave no HTTP answer'

function requestText(address: string, port: number, path: string): string {
  const host = address.includes(':') ? `[${address}]` : address
  return `GET ${path} HTTP/1.1\r\nHost: ${host}:${port}\r\nUser-Agent: ml-operator-health\r\nAccept: */*\r\nConnection: close\r\n\r\n`
}

function resultOf(head: string): HealthResult {
  const code = Number(STATUS_LINE.exec(head)?.groups?.['code'])
  if (Number.isNaN(code)) return failed(NO_HTTP)
  return code >= 200 && code < 400 ? PASSED : failed(`answered HTTP ${code}`)
}
