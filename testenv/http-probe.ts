import { get as httpGet } from 'node:http'
import { get as httpsGet } from 'node:https'

const TIMEOUT_MS = 2000

/** Whether the URL responds with 200. Certificates are not verified: for readiness of processes on this machine only. */
export async function answersOk(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const get = url.startsWith('https:') ? httpsGet : httpGet
    const request = get(url, { rejectUnauthorized: false, agent: false, timeout: TIMEOUT_MS }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    request.once('timeout', () => request.destroy())
    request.once('error', () => resolve(false))
  })
}
