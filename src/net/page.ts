/** Reads a small page of a pod by HTTP. */
import { request } from 'undici'

export interface PageAddress {
  readonly ip: string
  readonly port: number
  /** Begins with a slash. */
  readonly path: string
}

export interface PageLimits {
  readonly maxBytes: number
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

/** Throws if the page cannot be read, is too large, or is not there. Follows no redirects. */
export async function readPage({ ip, port, path }: PageAddress, limits: PageLimits): Promise<string> {
  const { maxBytes, timeoutMs, signal } = limits
  const late = AbortSignal.timeout(timeoutMs)
  const url = new URL(`http://${ip.includes(':') ? `[${ip}]` : ip}:${port}`)
  const headers = { accept: 'text/plain', 'accept-encoding': 'identity' }
  try {
    const options = { path, method: 'GET', headers, signal: signal ? AbortSignal.any([signal, late]) : late } as const
    const { statusCode, headers: given, body } = await request(url.origin, options)
    if (statusCode !== 200 || given['content-encoding'] !== undefined) {
      body.on('error', () => undefined).destroy() // the rest is not read
      throw new Error(statusCode === 200 ? 'the page is compressed' : `the response is ${statusCode}, not 200`)
    }
    return await readBounded(body, maxBytes)
  } catch (error) {
    if (late.aborted) throw new Error(`no complete page within ${timeoutMs} ms`, { cause: error })
    throw error
  }
}

async function readBounded(body: AsyncIterable<Buffer>, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    if (length > maxBytes) throw new Error(`the page is larger than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
