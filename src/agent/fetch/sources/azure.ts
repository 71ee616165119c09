/**
 * Azure Blob Storage, with a connection string, an account key or a shared access signature from the environment. Without any
 * of them, access is anonymous, which is enough for public containers.
 */
import {
  AnonymousCredential,
  BlobServiceClient,
  type ContainerClient,
  StorageSharedKeyCredential,
} from '@azure/storage-blob'

import type { Checksum } from '../../transfer/checksum.ts'
import { ChangedError, TransferError, TransientError } from '../../transfer/error.ts'
import type { ByteRange, Bytes } from '../../transfer/bytes.ts'
import type { Source } from '../source.ts'
import type { ObjectUri } from '../../transfer/uri.ts'
import { type Advice, statusError } from '../../objects/http-answer.ts'
import type { ObjectStore, StoredObject } from '../../objects/object-store.ts'
import { objectSource } from './object-source.ts'

const ADVICE: Advice = {
  denied:
    'set AZURE_STORAGE_CONNECTION_STRING, AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN with the permissions Read and List in ' +
    'the Secret of spec.storage.secretName',
  missing: 'check the container and AZURE_STORAGE_ACCOUNT',
}

export function azureSource({ bucket: container, key }: ObjectUri, env: NodeJS.ProcessEnv): Source {
  const shown = `az://${container}/${key}`
  return objectSource(new AzureStore(serviceOf(env, shown).getContainerClient(container), shown), key, shown)
}

/** The download retries, because it knows which bytes have arrived. */
const options = { retryOptions: { maxTries: 1 } }

function serviceOf(env: NodeJS.ProcessEnv, shown: string): BlobServiceClient {
  const { AZURE_STORAGE_CONNECTION_STRING: connection, AZURE_STORAGE_ACCOUNT: account } = env
  try {
    if (connection) return BlobServiceClient.fromConnectionString(connection, options)
    if (!account)
      throw new TransferError('Invalid', `${shown}: set AZURE_STORAGE_ACCOUNT in the Secret of spec.storage.secretName`)
    const { AZURE_STORAGE_KEY: secret, AZURE_STORAGE_SAS_TOKEN: signature = '' } = env
    const url = `https://${account}.blob.core.windows.net${signature === '' ? '' : `?${signature.replace(/^\?/, '')}`}`
    const credential = secret ? new StorageSharedKeyCredential(account, secret) : new AnonymousCredential()
    return new BlobServiceClient(url, credential, options)
  } catch (error) {
    if (error instanceof TransferError) throw error
    // Without the cause: its message may contain the key.
    throw new TransferError(
      'Invalid',
      `${shown}: AZURE_STORAGE_CONNECTION_STRING or AZURE_STORAGE_KEY is invalid: correct it`,
    )
  }
}

class AzureStore implements ObjectStore {
  readonly #container: ContainerClient
  readonly #shown: string

  constructor(container: ContainerClient, shown: string) {
    this.#container = container
    this.#shown = shown
  }

  async head(key: string, signal: AbortSignal): Promise<StoredObject | undefined> {
    const found = await this.#properties(key, signal)
    if (found?.etag === undefined || found.contentLength === undefined) return undefined
    return { key, size: found.contentLength, identity: found.etag }
  }

  async *list(prefix: string, signal: AbortSignal): AsyncIterable<StoredObject> {
    try {
      for await (const { name, properties } of this.#container.listBlobsFlat({ prefix, abortSignal: signal }))
        yield { key: name, size: properties.contentLength ?? 0, identity: quoted(properties.etag) }
    } catch (error) {
      throw this.#translated(error, signal)
    }
  }

  async read(
    { key, identity }: Pick<StoredObject, 'key' | 'identity'>,
    range: ByteRange,
    signal: AbortSignal,
  ): Promise<Bytes> {
    const count = range.end === undefined ? undefined : range.end - range.start
    try {
      const blob = this.#container.getBlobClient(key)
      const answer = await blob.download(range.start, count, { conditions: { ifMatch: identity }, abortSignal: signal })
      const body = answer.readableStreamBody
      if (!body) throw new TransientError(`${this.#shown}: the server sent no content`)
      // The error of a body that is not read to its end must not end the process.
      body.on('error', () => {})
      return body as unknown as Bytes
    } catch (error) {
      throw this.#translated(error, signal)
    }
  }

  async checksum({ key }: Pick<StoredObject, 'key'>, signal: AbortSignal): Promise<Checksum | undefined> {
    const md5 = (await this.#properties(key, signal))?.contentMD5
    return md5 === undefined ? undefined : { algorithm: 'md5', value: Buffer.from(md5).toString('hex') }
  }

  async #properties(key: string, signal: AbortSignal) {
    try {
      return await this.#container.getBlobClient(key).getProperties({ abortSignal: signal })
    } catch (error) {
      const { statusCode, code } = error as AzureError
      if (statusCode === 404 && code !== 'ContainerNotFound') return undefined
      throw this.#translated(error, signal)
    }
  }

  #translated(error: unknown, signal: AbortSignal): Error {
    signal.throwIfAborted()
    if (error instanceof TransferError || error instanceof ChangedError || error instanceof TransientError) return error
    const { statusCode, code = '' } = error as AzureError
    const what = code === '' ? this.#shown : `${this.#shown} (${code})`
    if (statusCode !== undefined && statusCode >= 300) return statusError(statusCode, what, ADVICE)
    return new TransientError(`${what}: the server cannot be reached`, { cause: error })
  }
}

interface AzureError {
  readonly statusCode?: number
  readonly code?: string
}

/** Lists have the ETag without the quotes of the header. */
const quoted = (etag: string): string => (etag.startsWith('"') ? etag : `"${etag}"`)
