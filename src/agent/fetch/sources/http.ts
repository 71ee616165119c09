/**
 * One file from a web server. Requests the first byte instead of HEAD: this shows whether ranges work, and URLs that are
 * signed for GET reject HEAD.
 */
import type { Checksum } from '../../transfer/checksum.ts'
import { ChangedError } from '../../transfer/error.ts'
import { relativePath } from '../../transfer/relative-path.ts'
import type { ByteRange, Bytes } from '../../transfer/bytes.ts'
import type { RemoteFile, Source } from '../source.ts'
import { shownUri } from '../../transfer/uri.ts'
import { type Advice, startOf, statusError, totalOf } from '../../objects/http-answer.ts'
import { type Headers, type HttpAnswer, type HttpGet, httpClient } from '../../objects/http-client.ts'

const ADVICE: Advice = {
  denied: 'give the pod a Secret with HTTP_AUTHORIZATION, the value of the header, or use a signed URL',
  missing: 'check the URL',
}

/** Requests uncompressed content, so that sizes and ranges refer to the same bytes. */
const PLAIN: Headers = { 'accept-encoding': 'identity' }

export function httpSource(uri: string, env: NodeJS.ProcessEnv): Source {
  return new HttpSource(new URL(uri), httpClient(env), env['HTTP_AUTHORIZATION'])
}

class HttpSource implements Source {
  readonly shown: string
  readonly #url: URL
  readonly #headers: Headers
  readonly #get: HttpGet

  constructor(url: URL, get: HttpGet, authorization: string | undefined) {
    this.shown = shownUri(url.href)
    this.#headers = { ...PLAIN, ...authorizationOf(url, authorization) }
    this.#url = new URL(url)
    this.#url.username = ''
    this.#url.password = ''
    this.#get = get
  }

  async list(signal: AbortSignal): Promise<readonly RemoteFile[]> {
    const answer = await this.#get(this.#url, { ...this.#headers, range: 'bytes=0-0' }, signal)
    answer.body.destroy()
    const isEmpty = answer.status === 416 && totalOf(answer.headers['content-range']) === 0
    if (answer.status !== 200 && answer.status !== 206 && !isEmpty) throw statusError(answer.status, this.shown, ADVICE)
    return [this.#fileOf(answer)]
  }

  #fileOf({ status, headers }: HttpAnswer): RemoteFile {
    const size = status === 200 ? numberOf(headers['content-length']) : totalOf(headers['content-range'])
    const identity = headers['etag'] ?? headers['last-modified']
    const hasRanges = status === 206 && validatorOf(headers) !== undefined && size !== undefined
    return {
      key: validatorOf(headers) ?? '',
      path: fileName(this.#url),
      hasRanges,
      ...(size !== undefined && { size }),
      ...(identity !== undefined && { identity }),
    }
  }

  async read(file: RemoteFile, range: ByteRange, signal: AbortSignal): Promise<Bytes> {
    const answer = await this.#get(this.#url, { ...this.#headers, ...rangeHeaders(file, range) }, signal)
    if (answer.status === (range.end === undefined ? 200 : 206) && isSame(answer, file, range)) return answer.body
    answer.body.destroy()
    if (answer.status === 200 || answer.status === 206)
      throw new ChangedError(`${this.shown} has changed while it was fetched`)
    throw statusError(answer.status, this.shown, ADVICE)
  }

  checksum(): Promise<Checksum | undefined> {
    return Promise.resolve(undefined)
  }
}

function authorizationOf(url: URL, authorization: string | undefined): Headers {
  if (authorization !== undefined && authorization !== '') return { authorization }
  if (url.username === '') return {}
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` }
}

function rangeHeaders({ key: validator }: RemoteFile, { start, end }: ByteRange): Headers {
  return end === undefined ? {} : { range: `bytes=${start}-${end - 1}`, 'if-range': validator }
}

/** A server without support for `If-Range` returns the range of the current content. */
function isSame(answer: HttpAnswer, file: RemoteFile, { start, end }: ByteRange): boolean {
  const { headers } = answer
  const identity = headers['etag'] ?? headers['last-modified']
  if (identity !== file.identity) return false
  if (end === undefined) return (numberOf(headers['content-length']) ?? file.size) === file.size
  return startOf(headers['content-range']) === start && totalOf(headers['content-range']) === file.size
}

/** The validator of byte-identical content. A weak tag is none. */
function validatorOf(headers: HttpAnswer['headers']): string | undefined {
  const { etag } = headers
  return etag !== undefined && !etag.startsWith('W/') ? etag : headers['last-modified']
}

function numberOf(text: string | undefined): number | undefined {
  return text === undefined || !/^[0-9]+$/.test(text) ? undefined : Number(text)
}

function fileName({ pathname }: URL): string {
  const last = pathname.split('/').findLast((part) => part !== '')
  return last === undefined ? 'model' : relativePath(decodeURIComponent(last))
}
