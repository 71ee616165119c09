/** Writes to S3: small objects at once, large ones in parts. */
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  type CompletedPart,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  paginateListObjectsV2,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'

import { type ObjectEntry, PART_BYTES, type Upload, type WritableStore } from './object-store.ts'
import { isMissing, s3Error } from './s3-error.ts'
import { type Place, S3Store } from './s3.ts'

const MAX_PARTS = 10_000

export class WritableS3Store extends S3Store implements WritableStore {
  readonly #client: S3Client
  readonly #place: Place

  constructor(client: S3Client, place: Omit<Place, 'access'>) {
    const writable = { ...place, access: 'write' } as const
    super(client, writable)
    this.#client = client
    this.#place = writable
  }

  async *entries(prefix: string, signal: AbortSignal): AsyncIterable<ObjectEntry> {
    const query = { Bucket: this.#place.bucket, Prefix: prefix, Delimiter: '/' }
    const pages = paginateListObjectsV2({ client: this.#client, stopOnSameToken: true }, query, { abortSignal: signal })
    try {
      for await (const { CommonPrefixes = [], Contents = [] } of pages) {
        for (const { Prefix = '' } of CommonPrefixes) yield { name: Prefix.slice(prefix.length, -1), isFolder: true }
        for (const { Key = '' } of Contents) yield { name: Key.slice(prefix.length), isFolder: false }
      }
    } catch (error) {
      throw this.#writeError(error, signal)
    }
  }

  async put(key: string, bytes: Uint8Array, signal: AbortSignal): Promise<void> {
    const command = new PutObjectCommand({ ...this.#target(key), Body: bytes })
    await this.#do(() => this.#client.send(command, { abortSignal: signal }), signal)
  }

  async remove(key: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#client.send(new DeleteObjectCommand(this.#target(key)), { abortSignal: signal })
    } catch (error) {
      if (!isMissing(error)) throw this.#writeError(error, signal)
    }
  }

  async upload(key: string, size: number, signal: AbortSignal): Promise<Upload> {
    await this.#discardUploads(key, signal)
    const begin = new CreateMultipartUploadCommand(this.#target(key))
    const { UploadId } = await this.#do(() => this.#client.send(begin, { abortSignal: signal }), signal)
    const upload = { ...this.#target(key), UploadId }
    const parts = new Map<number, CompletedPart>()
    return {
      partBytes: partBytesFor(size),
      isParallel: true,
      put: async (index, bytes, either) => {
        const part = new UploadPartCommand({ ...upload, PartNumber: index + 1, Body: bytes })
        const { ETag } = await this.#do(() => this.#client.send(part, { abortSignal: either }), either)
        // The server has verified the checksum that the SDK sends with the part.
        parts.set(index, { PartNumber: index + 1, ETag })
      },
      finish: async (either) => {
        const Parts = [...parts].toSorted(([a], [b]) => a - b).map(([, part]) => part)
        const end = new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } })
        await this.#do(() => this.#client.send(end, { abortSignal: either }), either)
      },
      abort: async (either) => {
        await this.#client.send(new AbortMultipartUploadCommand(upload), { abortSignal: either })
      },
    }
  }

  /** Discards parts that a killed run has left: they cost as much as objects. The permission for it is optional. */
  async #discardUploads(key: string, signal: AbortSignal): Promise<void> {
    const abortSignal = signal
    const list = new ListMultipartUploadsCommand({ Bucket: this.#place.bucket, Prefix: key })
    try {
      const { Uploads = [] } = await this.#client.send(list, { abortSignal })
      for (const { Key, UploadId } of Uploads.filter((one) => one.Key === key)) {
        const discard = new AbortMultipartUploadCommand({ Bucket: this.#place.bucket, Key, UploadId })
        await this.#client.send(discard, { abortSignal })
      }
    } catch {
      signal.throwIfAborted()
    }
  }

  #target(key: string) {
    return { Bucket: this.#place.bucket, Key: key }
  }

  async #do<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
    try {
      return await ask()
    } catch (error) {
      throw this.#writeError(error, signal)
    }
  }

  #writeError(error: unknown, signal: AbortSignal): Error {
    signal.throwIfAborted()
    return s3Error(error, this.#place.shown, 'write')
  }
}

/** An object has a limited number of parts. */
function partBytesFor(size: number): number {
  return Math.max(PART_BYTES, Math.ceil(size / MAX_PARTS))
}
