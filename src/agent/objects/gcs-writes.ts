/** Writes to Google Cloud Storage: small objects at once, large ones by a resumable upload. */
import { TransferError, TransientError } from '../transfer/error.ts'
import { checked, credentialsFor, type GcsBucket, GcsStore, pathOf, urlOf } from './gcs.ts'
import type { Headers, HttpAnswer, HttpRequest, HttpSend } from './http-client.ts'
import { type ObjectEntry, PART_BYTES, type Upload, type WritableStore } from './object-store.ts'

const CONTENT = { 'content-type': 'application/octet-stream' }

export class WritableGcsStore extends GcsStore implements WritableStore {
  readonly #bucket: GcsBucket
  readonly #send: HttpSend

  constructor(bucket: GcsBucket, send: HttpSend) {
    super(bucket)
    this.#bucket = bucket
    this.#send = send
  }

  async *entries(prefix: string, signal: AbortSignal): AsyncIterable<ObjectEntry> {
    const query = { prefix, delimiter: '/', fields: 'items(name,size,generation),prefixes,nextPageToken' }
    for await (const { items = [], prefixes = [] } of this.pages(query, signal)) {
      for (const folder of prefixes) yield { name: folder.slice(prefix.length, -1), isFolder: true }
      for (const { name } of items) yield { name: name.slice(prefix.length), isFolder: false }
    }
  }

  async put(key: string, bytes: Uint8Array, signal: AbortSignal): Promise<void> {
    const url = this.#uploadUrl({ uploadType: 'media', name: key })
    await this.#ask(url, { method: 'POST', headers: CONTENT, body: bytes }, signal)
  }

  async remove(key: string, signal: AbortSignal): Promise<void> {
    const headers = await credentialsFor(this.#bucket)
    const answer = await this.#send(urlOf(this.#bucket, pathOf(key), {}), { method: 'DELETE', headers }, signal)
    await end(answer)
    if (answer.status !== 404) checked(answer, this.#bucket)
  }

  async upload(key: string, size: number, signal: AbortSignal): Promise<Upload> {
    const url = this.#uploadUrl({ uploadType: 'resumable', name: key })
    const headers = { 'content-type': 'application/json', 'x-upload-content-length': String(size) }
    const { headers: answered } = await this.#ask(url, { method: 'POST', headers, body: '{}' }, signal)
    const session = this.#session(answered['location'])
    return {
      partBytes: PART_BYTES,
      isParallel: false,
      put: (index, bytes, either) => this.#putPart(session, { start: index * PART_BYTES, bytes, size }, either),
      finish: () => Promise.resolve(),
      abort: async (either) => void end(await this.#send(session, { method: 'DELETE', headers: {} }, either)),
    }
  }

  /** The address of an upload is also its password, so it must be one of the same server. */
  #session(location = ''): URL {
    if (URL.canParse(location) && new URL(location).origin === new URL(this.#bucket.origin).origin)
      return new URL(location)
    throw new TransferError('Invalid', `${this.#bucket.shown}: the server names no address of its own for an upload`)
  }

  /** The server ignores bytes that it already has. */
  async #putPart(
    session: URL,
    { start, bytes, size }: { readonly start: number; readonly bytes: Uint8Array; readonly size: number },
    signal: AbortSignal,
  ): Promise<void> {
    const stop = start + bytes.length
    const headers = { ...CONTENT, 'content-range': `bytes ${start}-${stop - 1}/${size}` }
    const answer = await this.#send(session, { method: 'PUT', headers, body: bytes }, signal)
    await end(answer)
    if (answer.status !== 308) checked(answer, this.#bucket)
    const received = answer.status === 308 ? receivedOf(answer) : size
    if (received !== stop) {
      throw new TransientError(`${this.#bucket.shown}: the server has received ${received} of ${stop} bytes`)
    }
  }

  async #ask(url: URL, request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
    const headers: Headers = { ...request.headers, ...(await credentialsFor(this.#bucket)) }
    const answer = checked(await this.#send(url, { ...request, headers }, signal), this.#bucket)
    await end(answer)
    return answer
  }

  #uploadUrl(query: Readonly<Record<string, string>>): URL {
    return urlOf({ ...this.#bucket, path: `/upload${this.#bucket.path}` }, '', query)
  }
}

/** How many bytes the server has, from its answer to a part that is not the last one. */
function receivedOf({ headers }: HttpAnswer): number {
  return Number(/^bytes=0-([0-9]+)$/.exec(headers['range'] ?? '')?.[1] ?? -1) + 1
}

/** Reads the rest of an answer, so that its connection can be used again. */
async function end({ body }: HttpAnswer): Promise<void> {
  await body.dump().catch(() => {})
}
