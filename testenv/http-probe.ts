import { get as httpGet } from 'node:http'
import { get as httpsGet } from 'node:https'

const TIMEOUT_MS = 2000

/** Whether the URL answers 200. For readiness of our own processes on this machine, so certificates are not checked. */
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
