/** HAProxy's socket for orders: one connection for each, closed by HAProxy after its answer. */
import { connect } from 'node:net'

export type Order = (command: string) => Promise<string>

const TIMEOUT_MS = 2_000
const LONGEST_ANSWER = 4 * 1024 * 1024

export function haproxySocket(path: string): Order {
  return (command) =>
    new Promise((resolve, reject) => {
      let answer = ''
      const socket = connect(path)
      const fail = (error: Error): void => {
        socket.destroy()
        reject(
          new Error(`HAProxy did not answer '${command.split('\n', 1)[0]}' at ${path}: ${error.message}`, {
            cause: error,
          }),
        )
      }
      socket.setEncoding('utf8')
      socket.setTimeout(TIMEOUT_MS, () => fail(new Error(`nothing for ${TIMEOUT_MS} ms`)))
      socket.on('error', fail)
      socket.on('data', (text: string) => {
        answer += text
        if (answer.length > LONGEST_ANSWER) fail(new Error('the answer does not end'))
      })
      socket.on('end', () => resolve(answer.trim()))
      socket.end(`${command}\n`)
    })
}
