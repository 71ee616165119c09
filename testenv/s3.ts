/** A real S3 server (versitygw) with its buckets in a run directory. */

import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'

import { CreateBucketCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'

import { versitygw } from './assets.ts'
import { provideBinaries } from './binaries.ts'
import { type ObjectServer, type ObjectServerOptions, type Place, startObjectServer } from './object-server.ts'
import { subdirectory } from './run-directory.ts'

const NAME = 'versitygw'
const KEYS = { accessKeyId: 'test-access', secretAccessKey: 'test-secret' }
const REGION = 'us-east-1'

export interface S3Server extends ObjectServer {
  putFile(bucket: string, key: string, path: string): Promise<void>
}

export async function startS3(options: ObjectServerOptions = {}): Promise<S3Server> {
  const binaries = await provideBinaries([versitygw])
  const command = (place: Place): string[] => [binaries.path(NAME), ...argumentsFor(place)]
  const running = await startObjectServer({ name: NAME, command, health: '/health' }, options)
  const { endpoint } = running
  const client = new S3Client({ endpoint, region: REGION, forcePathStyle: true, credentials: KEYS })
  const env = {
    AWS_ENDPOINT_URL: endpoint,
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: KEYS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
  }
  return {
    ...running,
    env,
    createBucket: async (bucket) => void (await client.send(new CreateBucketCommand({ Bucket: bucket }))),
    put: async (bucket, key, content) =>
      void (await client.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: content }))),
    putFile: async (bucket, key, path) => {
      const { size } = await stat(path)
      const body = createReadStream(path)
      await client.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: body, ContentLength: size }))
    },
    stop: async () => {
      client.destroy()
      await running.stop()
    },
  }
}

function argumentsFor({ address, port, runDirectory }: Place): string[] {
  const access = ['--access', KEYS.accessKeyId, '--secret', KEYS.secretAccessKey, '--region', REGION]
  const serving = ['--port', `${address}:${port}`, '--health', '/health', '--quiet', '--keep-alive']
  // A sidecar directory, so that the filesystem needs no extended attributes.
  const metadata = ['--sidecar', subdirectory(runDirectory, 's3-metadata')]
  return [...access, ...serving, 'posix', ...metadata, subdirectory(runDirectory, 's3-buckets')]
}
