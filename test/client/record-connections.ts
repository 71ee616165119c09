/** Preloaded into the operator's process: writes a line for every connection that it opens. */
import { Socket } from 'node:net'

interface Target {
  readonly host?: string
  readonly port?: number
  readonly path?: string
}

/** The arguments of `connect` are options, or a list that begins with them. */
const targetOf = ([first]: readonly unknown[]): Target => (Array.isArray(first) ? first[0] : first) as Target

// oxlint-disable-next-line typescript/unbound-method -- called with the socket below
const { connect } = Socket.prototype
Socket.prototype.connect = function (this: Socket, ...args: unknown[]): Socket {
  const { host = 'localhost', port, path } = targetOf(args)
  process.stderr.write(`opens ${path ?? `${host}:${port}`}\n`)
  return Reflect.apply(connect, this, args)
}
