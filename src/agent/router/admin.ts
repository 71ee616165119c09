/** Envoy's administration, over its Unix socket. */
import { request } from 'node:http'

/** Sends a request and returns the body. Fails unless the status is 200. */
export type AskEnvoy = (method: 'GET' | 'POST', path: string) => Promise<string>

const TIMEOUT_MS = 2_000
const MAX_RESPONSE = 8 * 1024 * 1024

export function envoyAdmin(socketPath: string): AskEnvoy {
  return (method, path) =>
    new Promise((resolve, reject) => {
      const call = request({ socketPath, method, path, agent: false, timeout: TIMEOUT_MS }, (response) => {
        const chunks: Buffer[] = []
        let length = 0
        response.on('data', (chunk: Buffer) => {
          length += chunk.length
          if (length > MAX_RESPONSE) call.destroy(new Error('the response is too long'))
          else chunks.push(chunk)
        })
        response.on('error', fail)
        response.on('end', () => {
          if (response.statusCode === 200) resolve(Buffer.concat(chunks).toString('utf8'))
          else fail(new Error(`status ${response.statusCode}`))
        })
      })
      const fail = (error: Error): void =>
        reject(new Error(`Envoy did not respond to ${method} ${path}: ${error.message}`, { cause: error }))
      call.on('timeout', () => call.destroy(new Error(`no response for ${TIMEOUT_MS} ms`)))
      call.on('error', fail)
      call.end()
    })
}
