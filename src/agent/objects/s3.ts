/**
 * S3 and compatible stores (MinIO, Ceph, R2), with the credential chain of the SDK: the web identity of the pod, its
 * environment, the node. `AWS_ENDPOINT_URL` names another server, which is accessed with path-style requests.
 */
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import {
  GetObjectCommand,
  HeadObjectCommand,
  type HeadObjectCommandOutput,
  paginateListObjectsV2,
  S3Client,
  type S3ClientConfig,
} from '@aws-sdk/client-s3'

import { type Checksum, hexOfBase64 } from '../transfer/checksum.ts'
import { ChangedError } from '../transfer/error.ts'
import type { ByteRange, Bytes } from '../transfer/bytes.ts'
import type { Access, ObjectStore, StoredObject } from './object-store.ts'
import { isMissing, s3Error } from './s3-error.ts'

export function s3Client(env: NodeJS.ProcessEnv): S3Client {
  const endpoint = env['AWS_ENDPOINT_URL_S3'] ?? env['AWS_ENDPOINT_URL']
  const agent = { keepAlive: true, maxSockets: 256, proxyEnv: env }
  const config: S3ClientConfig = {
    region: env['AWS_REGION'] ?? env['AWS_DEFAULT_REGION'] ?? 'us-east-1',
    followRegionRedirects: true,
    // The download retries, because it knows which bytes have arrived.
    maxAttempts: 1,
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: 10_000,
      requestTimeout: 60_000,
      throwOnRequestTimeout: true,
      httpAgent: new HttpAgent(agent),
      httpsAgent: new HttpsAgent(agent),
    },
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    ...(isAnonymous(env) && { signer: { sign: (request) => Promise.resolve(request) }, credentials: ANONYMOUS }),
  }
  return new S3Client(config)
}

const ANONYMOUS = { accessKeyId: '', secretAccessKey: '' }

/** For public buckets. The name of the variable follows the option of the AWS CLI. */
function isAnonymous(env: NodeJS.ProcessEnv): boolean {
  return env['AWS_NO_SIGN_REQUEST'] === 'true' || env['AWS_NO_SIGN_REQUEST'] === '1'
}

export interface Place {
  readonly bucket: string
  readonly shown: string
  /** What the permissions of the identity must allow. Default: read. */
  readonly access?: Access
}

export class S3Store implements ObjectStore {
  readonly #client: S3Client
  readonly #place: Place

  constructor(client: S3Client, place: Place) {
    this.#client = client
    this.#place = place
  }

  async head(key: string, signal: AbortSignal): Promise<StoredObject | undefined> {
    try {
      const found = await this.#client.send(this.#headCommand(key), { abortSignal: signal })
      return { key, size: found.ContentLength ?? 0, identity: found.ETag ?? '' }
    } catch (error) {
      if (isMissing(error)) return undefined
      throw this.#error(error, signal)
    }
  }

  async *list(prefix: string, signal: AbortSignal): AsyncIterable<StoredObject> {
    const query = { Bucket: this.#place.bucket, Prefix: prefix }
    try {
      for await (const page of paginateListObjectsV2({ client: this.#client, stopOnSameToken: true }, query, {
        abortSignal: signal,
      })) {
        for (const { Key = '', Size = 0, ETag = '', LastModified } of page.Contents ?? []) {
          const changedAt = LastModified?.getTime()
          yield { key: Key, size: Size, identity: ETag, ...(changedAt !== undefined && { changedAt }) }
        }
      }
    } catch (error) {
      throw this.#error(error, signal)
    }
  }

  async read(
    { key, identity }: { key: string; identity: string },
    range: ByteRange,
    signal: AbortSignal,
  ): Promise<Bytes> {
    const end = range.end === undefined ? '' : range.end - 1
    const command = new GetObjectCommand({
      Bucket: this.#place.bucket,
      Key: key,
      IfMatch: identity,
      Range: `bytes=${range.start}-${end}`,
    })
    try {
      const answer = await this.#client.send(command, { abortSignal: signal })
      // Not every compatible server supports IfMatch.
      if (answer.ETag !== identity) throw new ChangedError(`${this.#place.shown} has changed while it was fetched`)
      return answer.Body as Bytes
    } catch (error) {
      throw this.#error(error, signal)
    }
  }

  async checksum(
    { key, identity }: { key: string; identity: string },
    signal: AbortSignal,
  ): Promise<Checksum | undefined> {
    try {
      const found = await this.#client.send(this.#headCommand(key), { abortSignal: signal })
      if (found.ETag !== identity) throw new ChangedError(`${this.#place.shown} has changed while it was fetched`)
      return checksumIn(found)
    } catch (error) {
      throw this.#error(error, signal)
    }
  }

  #headCommand(key: string): HeadObjectCommand {
    return new HeadObjectCommand({ Bucket: this.#place.bucket, Key: key, ChecksumMode: 'ENABLED' })
  }

  #error(error: unknown, signal: AbortSignal): Error {
    signal.throwIfAborted()
    return s3Error(error, this.#place.shown, this.#place.access)
  }
}

/** A composite checksum, made of the checksums of parts, cannot be verified for the whole object. */
function checksumIn(found: HeadObjectCommandOutput): Checksum | undefined {
  const { ChecksumSHA256: sha256, ChecksumCRC32C: crc32c, ChecksumCRC32: crc32, ChecksumType } = found
  if (ChecksumType !== 'COMPOSITE') {
    if (sha256 !== undefined) return { algorithm: 'sha256', value: hexOfBase64(sha256) }
    if (crc32c !== undefined) return { algorithm: 'crc32c', value: hexOfBase64(crc32c) }
    if (crc32 !== undefined) return { algorithm: 'crc32', value: hexOfBase64(crc32) }
  }
  return md5Of(found)
}

/** An ETag is the MD5 of the content unless it was uploaded in parts (`…-N`) or encrypted with a customer key. */
function md5Of({
  ETag = '',
  ServerSideEncryption,
  SSECustomerAlgorithm,
}: HeadObjectCommandOutput): Checksum | undefined {
  const value = /^"?([0-9a-f]{32})"?$/.exec(ETag)?.[1]
  const isPlain = ServerSideEncryption === undefined || ServerSideEncryption === 'AES256'
  return value !== undefined && isPlain && SSECustomerAlgorithm === undefined ? { algorithm: 'md5', value } : undefined
}
