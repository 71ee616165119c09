import { createServer, type Server } from 'node:net'

/** `count` different ports that are free at this moment. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(Array.from({ length: count }, listen))
  const ports = servers.map(portOf)
  await Promise.all(servers.map(close))
  return ports
}

async function listen(): Promise<Server> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve)
  })
  return server
}

export function portOf(server: Server): number {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('server has no port')
  return address.port
}

async function close(server: Server): Promise<void> {
  await new Promise<void>((resolve) => void server.close(() => resolve()))
}
