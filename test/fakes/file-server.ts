/** A web server with files, ranges and ETags that can inject faults. For tests of downloads. */
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'

import { portOf } from '../../testenv/ports.ts'

/** A fault in place of a full response: an error status, a cut or a hang after this many bytes, a redirect. */
export interface Fault {
  readonly status?: number
  readonly cutAfter?: number
  readonly silentAfter?: number
  readonly location?: string
}

export interface Asked {
  readonly path: string
  readonly range: string | undefined
  readonly authorization: string | undefined
}

export class FileServer {
  /** By path and query. */
  readonly files = new Map<string, Uint8Array>()
  readonly asked: Asked[] = []
  /** Called for every request, in order. Undefined: no fault. */
  fault: (asked: Asked, count: number) => Fault | undefined = () => undefined
  hasRanges = true
  hasLength = true
  hasTags = true
  /** Whether `If-Range` is evaluated. Servers without support for it ignore it. */
  hasIfRange = true
  /** Bytes of files sent so far. */
  sent = 0
  readonly #server: Server

  constructor() {
    this.#server = createServer((request, response) => this.#answer(request, response))
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => void this.#server.listen(0, '127.0.0.1', resolve))
    return this
  }

  get url(): string {
    return `http://127.0.0.1:${portOf(this.#server)}`
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => void this.#server.close(() => resolve()))
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { url = '', headers } = request
    const asked = { path: url, range: headers.range, authorization: headers.authorization }
    this.asked.push(asked)
    const fault = this.fault(asked, this.asked.length) ?? {}
    const file = this.files.get(url) ?? this.files.get(decodeURIComponent(url))
    if (fault.location !== undefined) response.writeHead(302, { location: fault.location }).end()
    else if (fault.status !== undefined || file === undefined) response.writeHead(fault.status ?? 404).end()
    else this.#send(response, this.#part(file, request, response), fault)
  }

  /** Writes the headers. Returns the requested part of the file. */
  #part(file: Uint8Array, { headers }: IncomingMessage, response: ServerResponse): Uint8Array {
    const tag = `"${createHash('sha256').update(file).digest('hex').slice(0, 16)}"`
    const condition = this.hasIfRange ? headers['if-range'] : undefined
    const isSame = condition === undefined || condition === tag
    const range = this.hasRanges && isSame ? rangeOf(headers.range, file.length) : undefined
    const content = range === undefined ? file : file.subarray(range.start, range.end)
    response.writeHead(range === undefined ? 200 : 206, {
      ...(this.hasTags && { etag: tag }),
      ...(this.hasLength && { 'content-length': content.length }),
      ...(range !== undefined && { 'content-range': `bytes ${range.start}-${range.end - 1}/${file.length}` }),
    })
    return content
  }

  #send(response: ServerResponse, content: Uint8Array, { cutAfter, silentAfter }: Fault): void {
    const sent = content.subarray(0, cutAfter ?? silentAfter ?? content.length)
    this.sent += sent.length
    response.write(sent, () => {
      if (cutAfter !== undefined) response.destroy()
      else if (silentAfter === undefined) response.end()
    })
  }
}

function rangeOf(header: string | undefined, size: number): { start: number; end: number } | undefined {
  const match = /^bytes=(\d+)-(\d*)$/.exec(header ?? '')
  if (match === null) return undefined
  return { start: Number(match[1]), end: Math.min(match[2] ? Number(match[2]) + 1 : size, size) }
}
