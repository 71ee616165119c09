/**
 * Google Cloud Storage by its JSON API, with the credentials that Google's library finds (workload identity, a key file,
 * those of the node). Without credentials, access is anonymous, which is enough for public buckets.
 * `STORAGE_EMULATOR_HOST` names another server, which is accessed without credentials.
 */
import { GoogleAuth } from 'google-auth-library'

import { type Checksum, hexOfBase64 } from '../transfer/checksum.ts'
import { TransientError } from '../transfer/error.ts'
import type { ByteRange, Bytes } from '../transfer/bytes.ts'
import { type Advice, statusError } from './http-answer.ts'
import { type Headers, type HttpAnswer, type HttpGet, httpClient } from './http-client.ts'
import type { Access, ObjectStore, StoredObject } from './object-store.ts'

const FIELDS = 'name,size,generation,updated,md5Hash,crc32c'
/** A page of a list has at most 1000 objects. */
const MAX_JSON_BYTES = 32 * 1_024 * 1_024

const ROLES: Readonly<Record<Access, string>> = { read: 'Storage Object Viewer', write: 'Storage Object User' }

function adviceFor(access: Access): Advice {
  return {
    denied:
      `give the identity of the pod the role ${ROLES[access]} on the bucket: by workload identity of its service account, ` +
      'or by a key file named in GOOGLE_APPLICATION_CREDENTIALS',
    missing: 'check the bucket',
  }
}

interface GcsObject {
  readonly name: string
  readonly size: string
  readonly generation: string
  readonly updated?: string
  readonly md5Hash?: string
  readonly crc32c?: string
}

/** How to reach a bucket. */
export interface GcsBucket {
  readonly origin: string
  /** Below the path of the API. */
  readonly path: string
  readonly get: HttpGet
  readonly identity: () => Promise<Headers>
  readonly shown: string
  readonly access: Access
}

export function gcsBucket(
  bucket: string,
  shown: string,
  options: { env: NodeJS.ProcessEnv; access: Access },
): GcsBucket {
  const { env, access } = options
  const emulator = env['STORAGE_EMULATOR_HOST']
  return {
    origin: originOf(emulator),
    path: `/storage/v1/b/${encodeURIComponent(bucket)}/o`,
    get: httpClient(env),
    identity: emulator ? () => Promise.resolve({}) : googleIdentity(access),
    shown,
    access,
  }
}

function originOf(emulator: string | undefined): string {
  if (!emulator) return 'https://storage.googleapis.com'
  return emulator.includes('://') ? emulator : `http://${emulator}`
}

/** Returns the headers of a request. The library renews its token. */
function googleIdentity(access: Access): () => Promise<Headers> {
  const auth = new GoogleAuth({
    scopes: [`https://www.googleapis.com/auth/devstorage.read_${access === 'read' ? 'only' : 'write'}`],
  })
  const client = auth.getClient().catch((error: unknown) => {
    // The message for missing credentials. Invalid credentials have other messages.
    if (String(error).includes('Could not load the default credentials')) return undefined
    throw error
  })
  client.catch(() => {})
  return async () => {
    const authorization = (await (await client)?.getRequestHeaders())?.get('authorization')
    return authorization ? { authorization } : {}
  }
}

export class GcsStore implements ObjectStore {
  readonly #bucket: GcsBucket

  constructor(bucket: GcsBucket) {
    this.#bucket = bucket
  }

  async head(key: string, signal: AbortSignal): Promise<StoredObject | undefined> {
    const found = await this.#metadata(key, signal)
    return found === undefined ? undefined : toStoredObject(found)
  }

  async *list(prefix: string, signal: AbortSignal): AsyncIterable<StoredObject> {
    const query = { prefix, fields: `items(${FIELDS}),nextPageToken` }
    for await (const { items = [] } of this.pages(query, signal)) yield* items.map(toStoredObject)
  }

  /** The pages of a list. */
  async *pages(query: Readonly<Record<string, string>>, signal: AbortSignal): AsyncIterable<GcsPage> {
    let pageToken = ''
    do {
      const page = await readJson(await this.#request('', { ...query, ...(pageToken !== '' && { pageToken }) }, signal))
      if (!isPage(page) || (pageToken !== '' && page.nextPageToken === pageToken)) throw invalidResponse()
      yield page
      pageToken = page.nextPageToken ?? ''
    } while (pageToken !== '')
  }

  async read(
    { key, identity }: { key: string; identity: string },
    range: ByteRange,
    signal: AbortSignal,
  ): Promise<Bytes> {
    const headers = {
      range: `bytes=${range.start}-${range.end === undefined ? '' : range.end - 1}`,
      // Content as stored: a server that decompresses supports neither sizes nor ranges.
      'accept-encoding': 'gzip',
    }
    const query = { alt: 'media', ifGenerationMatch: identity }
    return (await this.#request(pathOf(key), query, signal, headers)).body
  }

  async checksum({ key }: { key: string }, signal: AbortSignal): Promise<Checksum | undefined> {
    const found = await this.#metadata(key, signal)
    if (found?.md5Hash !== undefined) return { algorithm: 'md5', value: hexOfBase64(found.md5Hash) }
    return found?.crc32c === undefined ? undefined : { algorithm: 'crc32c', value: hexOfBase64(found.crc32c) }
  }

  async #metadata(key: string, signal: AbortSignal): Promise<GcsObject | undefined> {
    const answer = await this.#send(pathOf(key), { fields: FIELDS }, signal)
    if (answer.status === 404) {
      answer.body.destroy()
      return undefined
    }
    const found = await readJson(this.#check(answer))
    if (!isObject(found)) throw invalidResponse()
    return found
  }

  async #request(
    path: string,
    query: Record<string, string>,
    signal: AbortSignal,
    headers: Headers = {},
  ): Promise<HttpAnswer> {
    return this.#check(await this.#send(path, query, signal, headers))
  }

  async #send(
    path: string,
    query: Record<string, string>,
    signal: AbortSignal,
    headers: Headers = {},
  ): Promise<HttpAnswer> {
    const url = urlOf(this.#bucket, path, query)
    return this.#bucket.get(url, { ...headers, ...(await credentialsFor(this.#bucket)) }, signal)
  }

  #check(answer: HttpAnswer): HttpAnswer {
    return checked(answer, this.#bucket)
  }
}

export function checked(answer: HttpAnswer, { shown, access }: GcsBucket): HttpAnswer {
  if (answer.status < 300) return answer
  answer.body.destroy()
  throw statusError(answer.status, shown, adviceFor(access))
}

export function urlOf({ origin, path }: GcsBucket, object: string, query: Readonly<Record<string, string>>): URL {
  const url = new URL(path + object, origin)
  url.search = new URLSearchParams(query).toString()
  return url
}

export async function credentialsFor({ identity, shown }: GcsBucket): Promise<Headers> {
  try {
    return await identity()
  } catch (error) {
    throw new TransientError(`${shown}: no token from Google: ${String(error)}`, { cause: error })
  }
}

/** The whole key, with its slashes, is one segment of the path. */
export function pathOf(key: string): string {
  return `/${encodeURIComponent(key)}`
}

export interface GcsPage {
  readonly items?: readonly GcsObject[]
  readonly prefixes?: readonly string[]
  readonly nextPageToken?: string
}

function isPage(page: unknown): page is GcsPage {
  const { items = [], prefixes = [], nextPageToken = '' } = (page ?? {}) as Readonly<Record<string, unknown>>
  const isList = Array.isArray(items) && items.every(isObject) && typeof nextPageToken === 'string'
  return isList && Array.isArray(prefixes) && prefixes.every((one) => typeof one === 'string')
}

function isObject(object: unknown): object is GcsObject {
  const {
    name,
    size,
    generation,
    updated = '',
    md5Hash = '',
    crc32c = '',
  } = (object ?? {}) as Readonly<Record<string, unknown>>
  const isSize = (typeof size === 'string' || typeof size === 'number') && /^[0-9]{1,15}$/.test(String(size))
  return isSize && [name, generation, updated, md5Hash, crc32c].every((text) => typeof text === 'string')
}

function invalidResponse(): TransientError {
  return new TransientError('the response is not one of Google Cloud Storage')
}

function toStoredObject({ name, size, generation, updated = '' }: GcsObject): StoredObject {
  const changedAt = Date.parse(updated)
  return { key: name, size: Number(size), identity: generation, ...(!Number.isNaN(changedAt) && { changedAt }) }
}

async function readJson({ body }: HttpAnswer): Promise<unknown> {
  const parts: Uint8Array[] = []
  let length = 0
  try {
    for await (const part of body as Bytes) {
      length += part.length
      if (length > MAX_JSON_BYTES) throw new Error('it is too long')
      parts.push(part)
    }
    return JSON.parse(Buffer.concat(parts).toString())
  } catch (error) {
    throw new TransientError('the response is not JSON', { cause: error })
  }
}
