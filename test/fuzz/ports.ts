/** Sends raw bytes to the listening ports from another process, plain or inside TLS. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { reviews } from './parsers.ts'
import type { Ports } from './port-server.ts'
import type { Subject, Target } from './target.ts'

/** The target process has exited. */
export class ExitError extends Error {
  override readonly name = 'ExitError'
}

/** A turn of the target's event loop took this long. */
export class StallError extends Error {
  override readonly name = 'StallError'
}

/** The client closes the connection after this time without a response. */
const PATIENCE_MS = 1_000
const STALL_MS = 50

const request = (line: string, headers = '', body = ''): string =>
  `${line} HTTP/1.1\r\nhost: x\r\n${headers}\r\n${body}`
const get = (path: string): string => request(`GET ${path}`)
const post = (body: string): string =>
  request('POST /convert', `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`, body)
const CHUNKED = request('POST /convert', 'transfer-encoding: chunked\r\n', '5\r\n{"a":\r\n2\r\n1}\r\n0\r\n\r\n')
const UPGRADE = request('GET /metrics', 'connection: upgrade\r\nupgrade: websocket\r\n')
const PAGES = [get('/healthz'), get('/readyz?verbose'), get('/metrics'), UPGRADE, request('HEAD /'), CHUNKED]

const targets: readonly { name: string; port: keyof Ports; tls?: boolean; seeds: readonly string[] }[] = [
  {
    name: 'port 9443 inside TLS',
    port: 'conversion',
    tls: true,
    seeds: [...reviews.map(post), CHUNKED, get('//'), get('/convert')],
  },
  {
    name: 'port 9443 without TLS',
    port: 'conversion',
    seeds: [...PAGES, '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  },
  { name: 'port 8000', port: 'operator', seeds: PAGES },
  { name: 'port 8405', port: 'router', seeds: [...PAGES, get('/report')] },
]

export const portTargets: readonly Target[] = targets.map(({ name, port, tls = false, seeds }) => ({
  name,
  share: 1,
  seeds,
  start: () => connectTo(port, tls),
}))

async function connectTo(port: keyof Ports, tls: boolean): Promise<Subject> {
  const child = fork(new URL('port-server.ts', import.meta.url), { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const { ports } = (await answerOf(child)) as { readonly ports: Ports }
  return {
    take: async (input) => {
      await send(input, ports[port], tls)
      child.send('?')
      const { longestTurnMs } = (await answerOf(child)) as { readonly longestTurnMs: number }
      if (longestTurnMs > STALL_MS) throw new StallError(`a turn of ${longestTurnMs} ms`)
    },
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill()
      await once(child, 'exit')
    },
  }
}

function answerOf(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null): void => reject(new ExitError(`the target exited with ${code}`))
    child.once('exit', ended)
    child.once('message', (message) => {
      child.off('exit', ended)
      resolve(message)
    })
    if (child.exitCode !== null) ended(child.exitCode)
  })
}

/** Resolves when the connection has ended, by either side. */
async function send(input: Buffer, port: number, tls: boolean): Promise<void> {
  const host = '127.0.0.1'
  const socket: Socket = tls ? connectTls({ port, host, rejectUnauthorized: false }) : connectPlain(port, host)
  const closed = new Promise<void>((resolve) => void socket.on('close', () => resolve()))
  socket.on('error', () => undefined).resume()
  // After the handshake, which alone may take longer on a busy machine.
  socket.once(tls ? 'secureConnect' : 'connect', () => {
    socket.setTimeout(PATIENCE_MS, () => socket.destroy())
    socket.end(input)
  })
  await closed
}
