/** What servers of objects have in common: one process, with its buckets in a run directory. */

import { Component, reportExit } from './component.ts'
import { answersOk } from './http-probe.ts'
import { freePorts } from './ports.ts'
import { startRun } from './run.ts'
import { tearDown } from './run-directory.ts'

export interface ObjectServer {
  readonly endpoint: string
  /** Environment variables for clients. */
  readonly env: Readonly<Record<string, string>>
  readonly server: Component
  createBucket(bucket: string): Promise<void>
  put(bucket: string, key: string, content: string | Uint8Array): Promise<void>
  stop(): Promise<void>
}

export interface ObjectServerOptions {
  /** The address to listen on. Default: loopback, which pods cannot reach. */
  readonly address?: string
  readonly onExit?: (error: Error) => void
}

export interface Place {
  readonly address: string
  readonly port: number
  readonly endpoint: string
  readonly runDirectory: string
}

export interface ServerProgram {
  readonly name: string
  readonly command: (place: Place) => readonly string[]
  /** A path that answers once it is ready. */
  readonly health: string
}

/** Starts the program and waits until it is ready. */
export function startObjectServer(
  { name, command, health }: ServerProgram,
  { address = '127.0.0.1', onExit = reportExit }: ObjectServerOptions,
): Promise<Pick<ObjectServer, 'endpoint' | 'server' | 'stop'>> {
  return startRun({}, async (runDirectory) => {
    const [port = 0] = await freePorts(1)
    const endpoint = `http://${address}:${port}`
    const ready = (): Promise<boolean> => answersOk(`${endpoint}${health}`)
    const spec = { name, command: command({ address, port, endpoint, runDirectory }), ready }
    const server = await new Component(runDirectory, spec, onExit).start()
    const stop = async (): Promise<void> => {
      await server.kill()
      await tearDown(runDirectory)
    }
    return { endpoint, server, stop }
  })
}
