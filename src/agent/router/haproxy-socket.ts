/** The runtime socket of HAProxy: one connection per command, closed by HAProxy after its response. */
import { connect } from 'node:net'

export type RunCommand = (command: string) => Promise<string>

const TIMEOUT_MS = 2_000
const MAX_RESPONSE = 4 * 1024 * 1024

export function haproxySocket(path: string): RunCommand {
  return (command) =>
    new Promise((resolve, reject) => {
      let response = ''
      const socket = connect(path)
      const fail = (error: Error): void => {
        socket.destroy()
        reject(
          new Error(`HAProxy did not respond to '${command.split('\n', 1)[0]}' at ${path}: ${error.message}`, {
            cause: error,
          }),
        )
      }
      socket.setEncoding('utf8')
      socket.setTimeout(TIMEOUT_MS, () => fail(new Error(`no response for ${TIMEOUT_MS} ms`)))
      socket.on('error', fail)
      socket.on('data', (text: string) => {
        response += text
        if (response.length > MAX_RESPONSE) fail(new Error('the response is too long'))
      })
      socket.on('end', () => resolve(response.trim()))
      socket.end(`${command}\n`)
    })
}
