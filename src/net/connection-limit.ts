/**
 * Limits the open connections of an HTTP server. A client that opens connections without sending requests cannot lock out
 * others: at the limit, the oldest connection without a request is closed in favour of the new one.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export function limitConnections(server: Server, max: number): void {
  const open = new Map<string, Socket>()
  const requests = new Map<string, number>()

  server.on('connection', (socket: Socket) => {
    const peer = peerOf(socket)
    open.set(peer, socket)
    if (open.size > max) {
      const [idle, oldest] = [...open].find(([name]) => !requests.has(name)) ?? [peer, socket]
      open.delete(idle)
      oldest.destroy()
    }
    socket.on('close', () => {
      if (open.get(peer) === socket) open.delete(peer)
    })
  })
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const peer = peerOf(socket)
    requests.set(peer, (requests.get(peer) ?? 0) + 1)
    response.on('close', () => {
      const left = (requests.get(peer) ?? 1) - 1
      if (left > 0) requests.set(peer, left)
      else requests.delete(peer)
    })
  })
}

/** A TLS socket and the TCP socket below it are two objects with the same peer. */
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress}:${remotePort}`
}
