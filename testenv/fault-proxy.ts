/**
 * A TCP proxy between a client and the API server, on loopback, that injects faults. TLS passes unchanged: the server's certificate
 * is valid for loopback on any port.
 */

import { connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

import { portOf } from './ports.ts'

export class FaultProxy {
  /** Use this in place of the target's URL. */
  readonly server: string
  readonly #listener: Server
  readonly #sockets: Set<Socket>
  readonly #frozen = new WeakSet<Socket>()
  #mode: 'pass' | 'cut' | 'freeze' = 'pass'
  #delayMs = 0

  constructor(target: URL, listener: Server) {
    this.#sockets = new Set()
    this.#listener = listener
    this.server = `${target.protocol}//127.0.0.1:${portOf(listener)}`
    listener.on('connection', (client: Socket) => this.#accept(client, target))
  }

  /** Resets every connection and refuses new ones. */
  cut(): void {
    this.#mode = 'cut'
    this.#resetAll()
  }

  /** Half-open: connections stay open and new ones are accepted, but no byte passes on them, also after `restore`. */
  freeze(): void {
    this.#mode = 'freeze'
    for (const socket of this.#sockets) this.#frozen.add(socket)
  }

  /** Delays all data by this time, in both directions. */
  delay(ms: number): void {
    this.#delayMs = ms
  }

  /** New connections work again. */
  restore(): void {
    this.#mode = 'pass'
    this.#delayMs = 0
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => void this.#listener.close(() => resolve()))
    this.#resetAll()
    await closed
  }

  #accept(client: Socket, target: URL): void {
    if (this.#mode === 'cut') {
      client.resetAndDestroy()
      return
    }
    const upstream = connect(Number(target.port), target.hostname)
    this.#pass(client, upstream)
    this.#pass(upstream, client)
    if (this.#mode === 'freeze') this.freeze()
  }

  #pass(from: Socket, to: Socket): void {
    this.#sockets.add(from)
    let inOrder = Promise.resolve()
    from.on('data', (chunk) => {
      const wait = this.#delayMs
      inOrder = inOrder.then(async () => {
        if (wait > 0) await delay(wait)
        if (!this.#frozen.has(from) && !to.destroyed) to.write(chunk)
      })
    })
    from.on('end', () => void inOrder.then(() => this.#frozen.has(from) || to.end()))
    from.on('error', () => {})
    from.on('close', () => {
      this.#sockets.delete(from)
      if (!this.#frozen.has(from)) to.destroy()
    })
  }

  #resetAll(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy()
  }
}

export async function faultProxy(target: string): Promise<FaultProxy> {
  const listener = createServer()
  await new Promise<void>((resolve) => void listener.listen(0, '127.0.0.1', resolve))
  return new FaultProxy(new URL(target), listener)
}
