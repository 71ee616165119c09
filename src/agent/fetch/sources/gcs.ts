/**
 * Google Cloud Storage by its JSON API, with the credentials that Google's library finds (workload identity, a key file,
 * those of the node). Without credentials, access is anonymous, which is enough for public buckets.
 * `STORAGE_EMULATOR_HOST` names another server, which is accessed without credentials.
 */
import { GoogleAuth } from 'google-auth-library'

import { type Checksum, hexOfBase64 } from '../checksum.ts'
import { TransientError } from '../error.ts'
import type { ByteRange, Bytes, Source } from '../source.ts'
import type { ObjectUri } from '../uri.ts'
import { type Advice, statusError } from './http-answer.ts'
import { type Headers, type HttpAnswer, type HttpGet, httpClient } from './http-client.ts'
import { type ObjectStore, objectSource, type StoredObject } from './object-store.ts'

const SCOPE = 'https://www.googleapis.com/auth/devstorage.read_only'
const FIELDS = 'name,size,generation,md5Hash,crc32c'

const ADVICE: Advice = {
  denied:
    'give the identity of the pod the role Storage Object Viewer on the bucket: by workload identity of its service account, ' +
    'or by a key file named in GOOGLE_APPLICATION_CREDENTIALS',
  missing: 'check the bucket',
}

interface GcsObject {
  readonly name: string
  readonly size: string
  readonly generation: string
  readonly md5Hash?: string
  readonly crc32c?: string
}

export function gcsSource({ bucket, key }: ObjectUri, env: NodeJS.ProcessEnv): Source {
  const shown = `gs://${bucket}/${key}`
  const emulator = env['STORAGE_EMULATOR_HOST']
  const store = new GcsStore({
    base: new URL(`/storage/v1/b/${encodeURIComponent(bucket)}/`, baseOf(emulator)),
    get: httpClient(env),
    identity: emulator ? () => Promise.resolve({}) : googleIdentity(),
    shown,
  })
  return objectSource(store, key, shown)
}

function baseOf(emulator: string | undefined): string {
  if (!emulator) return 'https://storage.googleapis.com'
  return emulator.includes('://') ? emulator : `http://${emulator}`
}

/** Returns the headers of a request. The library renews its token. */
function googleIdentity(): () => Promise<Headers> {
  const auth = new GoogleAuth({ scopes: [SCOPE] })
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

interface Access {
  readonly base: URL
  readonly get: HttpGet
  readonly identity: () => Promise<Headers>
  readonly shown: string
}

class GcsStore implements ObjectStore {
  readonly #access: Access

  constructor(access: Access) {
    this.#access = access
  }

  async head(key: string, signal: AbortSignal): Promise<StoredObject | undefined> {
    const found = await this.#metadata(key, signal)
    return found === undefined ? undefined : toStoredObject(found)
  }

  async *list(prefix: string, signal: AbortSignal): AsyncIterable<StoredObject> {
    let pageToken = ''
    do {
      const query = { prefix, fields: `items(${FIELDS}),nextPageToken`, ...(pageToken !== '' && { pageToken }) }
      const page = (await readJson(await this.#request('o', query, signal))) as {
        readonly items?: readonly GcsObject[]
        readonly nextPageToken?: string
      }
      if (!isPage(page) || (pageToken !== '' && page.nextPageToken === pageToken)) throw invalidResponse()
      yield* (page.items ?? []).map(toStoredObject)
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
    const { base, get, identity, shown } = this.#access
    const url = new URL(path, base)
    url.search = new URLSearchParams(query).toString()
    const credentials = await identity().catch((error: unknown) => {
      throw new TransientError(`${shown}: no token from Google: ${String(error)}`, { cause: error })
    })
    return get(url, { ...headers, ...credentials }, signal)
  }

  #check(answer: HttpAnswer): HttpAnswer {
    if (answer.status < 300) return answer
    answer.body.destroy()
    throw statusError(answer.status, this.#access.shown, ADVICE)
  }
}

/** The whole key, with its slashes, is one segment of the path. */
function pathOf(key: string): string {
  return `o/${encodeURIComponent(key)}`
}

interface GcsPage {
  readonly items?: readonly GcsObject[]
  readonly nextPageToken?: string
}

function isPage(page: unknown): page is GcsPage {
  const { items = [], nextPageToken = '' } = (page ?? {}) as Readonly<Record<string, unknown>>
  return Array.isArray(items) && items.every(isObject) && typeof nextPageToken === 'string'
}

function isObject(object: unknown): object is GcsObject {
  const { name, size, generation, md5Hash = '', crc32c = '' } = (object ?? {}) as Readonly<Record<string, unknown>>
  const isSize = (typeof size === 'string' || typeof size === 'number') && /^[0-9]{1,15}$/.test(String(size))
  return isSize && [name, generation, md5Hash, crc32c].every((text) => typeof text === 'string')
}

function invalidResponse(): TransientError {
  return new TransientError('the response is not one of Google Cloud Storage')
}

function toStoredObject({ name, size, generation }: GcsObject): StoredObject {
  return { key: name, size: Number(size), identity: generation }
}

async function readJson(answer: HttpAnswer): Promise<unknown> {
  try {
    return await answer.body.json()
  } catch (error) {
    throw new TransientError('the response is not JSON', { cause: error })
  }
}
