import type { Server } from 'node:net'

export interface Address {
  /** 0 chooses a free port. */
  readonly port: number
  readonly host?: string
}

/** Starts the server and resolves to its port. Later errors, such as a failed accept, do not end the process. */
export function listen(server: Server, { port, host }: Address): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      server.on('error', () => undefined)
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : port)
    })
  })
}
