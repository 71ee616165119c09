/** A real S3 server (versitygw) with its buckets in a run directory. */

import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'

import { CreateBucketCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'

import { versitygw } from './assets.ts'
import { provideBinaries } from './binaries.ts'
import { Component, reportExit } from './component.ts'
import { answersOk } from './http-probe.ts'
import { freePorts } from './ports.ts'
import { startRun } from './run.ts'
import { subdirectory, tearDown } from './run-directory.ts'

const NAME = 'versitygw'
const KEYS = { accessKeyId: 'test-access', secretAccessKey: 'test-secret' }
const REGION = 'us-east-1'

export interface S3Server {
  readonly endpoint: string
  /** Environment variables for clients. */
  readonly env: Readonly<Record<string, string>>
  readonly server: Component
  createBucket(bucket: string): Promise<void>
  put(bucket: string, key: string, content: string | Uint8Array): Promise<void>
  putFile(bucket: string, key: string, path: string): Promise<void>
  stop(): Promise<void>
}

export interface S3Options {
  /** The address to listen on. Default: loopback, which pods cannot reach. */
  readonly address?: string
  readonly onExit?: (error: Error) => void
}

export async function startS3({ address = '127.0.0.1', onExit = reportExit }: S3Options = {}): Promise<S3Server> {
  const binaries = await provideBinaries([versitygw])
  return startRun({}, async (runDirectory) => {
    const [port = 0] = await freePorts(1)
    const endpoint = `http://${address}:${port}`
    const flags = ['--access', KEYS.accessKeyId, '--secret', KEYS.secretAccessKey, '--region', REGION]
    const serving = ['--port', `${address}:${port}`, '--health', '/health', '--quiet', '--keep-alive']
    // A sidecar directory, so that the filesystem needs no extended attributes.
    const metadata = ['--sidecar', subdirectory(runDirectory, 's3-metadata')]
    const buckets = subdirectory(runDirectory, 's3-buckets')
    const command = [binaries.path(NAME), ...flags, ...serving, 'posix', ...metadata, buckets]
    const ready = (): Promise<boolean> => answersOk(`${endpoint}/health`)
    const server = await new Component(runDirectory, { name: NAME, command, ready }, onExit).start()
    return new LocalS3(runDirectory, endpoint, server)
  })
}

class LocalS3 implements S3Server {
  readonly endpoint: string
  readonly env: Readonly<Record<string, string>>
  readonly server: Component
  readonly #runDirectory: string
  readonly #client: S3Client

  constructor(runDirectory: string, endpoint: string, server: Component) {
    this.#runDirectory = runDirectory
    this.endpoint = endpoint
    this.server = server
    this.env = {
      AWS_ENDPOINT_URL: endpoint,
      AWS_REGION: REGION,
      AWS_ACCESS_KEY_ID: KEYS.accessKeyId,
      AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
    }
    this.#client = new S3Client({ endpoint, region: REGION, forcePathStyle: true, credentials: KEYS })
  }

  async createBucket(bucket: string): Promise<void> {
    await this.#client.send(new CreateBucketCommand({ Bucket: bucket }))
  }

  async put(bucket: string, key: string, content: string | Uint8Array): Promise<void> {
    await this.#client.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: content }))
  }

  async putFile(bucket: string, key: string, path: string): Promise<void> {
    const { size } = await stat(path)
    const body = createReadStream(path)
    await this.#client.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: body, ContentLength: size }))
  }

  async stop(): Promise<void> {
    this.#client.destroy()
    await this.server.kill()
    await tearDown(this.#runDirectory)
  }
}
