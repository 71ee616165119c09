/**
 * A pass-through for bytes between a client and the API server, on loopback, that breaks on demand. TLS goes through
 * untouched: the server's certificate is valid for loopback whatever the port.
 */

import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

import { portOf } from './ports.ts'

export interface FaultProxy {
  /** Use this in place of the target's URL. */
  readonly server: string
  /** Resets every connection and refuses new ones. */
  cut(): void
  /** Half-open: connections stay and new ones are accepted, but no byte passes; for those, never again. */
  freeze(): void
  /** Every piece of data arrives that much later, in both directions. */
  delay(ms: number): void
  /** New connections work again as if nothing had happened. */
  restore(): void
  close(): Promise<void>
}

type Mode = 'pass' | 'cut' | 'freeze'

export async function faultProxy(target: string): Promise<FaultProxy> {
  const { hostname, port, protocol } = new URL(target)
  const sockets = new Set<Socket>()
  const frozen = new WeakSet<Socket>()
  let mode: Mode = 'pass'
  let delayMs = 0

  const link = (from: Socket, to: Socket): void => {
    sockets.add(from)
    let last = Promise.resolve()
    from.on('data', (chunk) => {
      const wait = delayMs
      last = last.then(async () => {
        if (wait > 0) await delay(wait)
        if (!frozen.has(from) && !to.destroyed) to.write(chunk)
      })
    })
    from.on('end', () => void last.then(() => !frozen.has(from) && to.end()))
    from.on('error', () => {})
    from.on('close', () => {
      sockets.delete(from)
      if (!frozen.has(from)) to.destroy()
    })
  }

  const freezeAll = (): void => sockets.forEach((socket) => frozen.add(socket))
  const listener = createServer((client) => {
    if (mode === 'cut') {
      client.resetAndDestroy()
      return
    }
    const upstream = connect(Number(port), hostname)
    link(client, upstream)
    link(upstream, client)
    if (mode === 'freeze') freezeAll()
  })
  await new Promise<void>((resolve) => void listener.listen(0, '127.0.0.1', resolve))

  const resetAll = (): void => sockets.forEach((socket) => socket.resetAndDestroy())
  return {
    server: `${protocol}//127.0.0.1:${portOf(listener)}`,
    cut: () => {
      mode = 'cut'
      resetAll()
    },
    freeze: () => {
      mode = 'freeze'
      freezeAll()
    },
    delay: (ms) => void (delayMs = ms),
    restore: () => {
      mode = 'pass'
      delayMs = 0
    },
    close: async () => {
      const closed = new Promise<void>((resolve) => void listener.close(() => resolve()))
      resetAll()
      await closed
    },
  }
}
