/** Receives the request log of HAProxy, over TCP on loopback: no line is lost while both sides run. */
import { createServer, type Socket } from 'node:net'
import { listen } from '../../net/listening.ts'
import { type EndedRequest, parseRequestLine } from './request-line.ts'

const MAX_LINE = 4_096

export interface RequestLog {
  readonly port: number
  close(): Promise<void>
}

export async function listenForRequests(port: number, note: (request: EndedRequest) => void): Promise<RequestLog> {
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket))
    socket.on('error', () => socket.destroy())
    readLines(socket, (line) => {
      const request = parseRequestLine(line)
      if (request) note(request)
    })
  })
  return {
    port: await listen(server, { port, host: '127.0.0.1' }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of open) socket.destroy()
      }),
  }
}

function readLines(socket: Socket, take: (line: string) => void): void {
  let rest = ''
  socket.setEncoding('utf8')
  socket.on('data', (text: string) => {
    const lines = `${rest}${text}`.split('\n')
    rest = (lines.pop() ?? '').slice(0, MAX_LINE)
    for (const line of lines) take(line)
  })
}
