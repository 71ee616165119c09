/** Checkpoints in a real S3 server. Needs no cluster. */
import { randomUUID } from 'node:crypto'
import { after, before } from 'node:test'

import { s3Checkpoints } from '../../src/agent/checkpoints/s3.ts'
import { s3Client } from '../../src/agent/objects/s3.ts'
import { WritableS3Store } from '../../src/agent/objects/s3-writes.ts'
import { type S3Server, startS3 } from '../../testenv/s3.ts'
import { checkpointCommandsContract } from '../contracts/checkpoint-commands.ts'
import { checkpointStoreContract } from '../contracts/checkpoint-store.ts'
import { objectsBelow } from '../fixtures/checkpoints.ts'

const bucket = 'checkpoints'
let s3: S3Server
let env: NodeJS.ProcessEnv

before(async () => {
  s3 = await startS3()
  env = { ...s3.env, AWS_EC2_METADATA_DISABLED: 'true' }
  // The SDK reads the credentials from the environment of the process.
  Object.assign(process.env, env)
  await s3.createBucket(bucket)
})

after(() => s3.stop())

checkpointStoreContract('S3', async () => {
  const prefix = `${randomUUID()}/`
  const objects = new WritableS3Store(s3Client(env), { bucket, shown: `s3://${bucket}` })
  return {
    store: s3Checkpoints({ bucket, prefix }, env),
    put: (path, content) => s3.put(bucket, prefix + path, content),
    all: () => objectsBelow(objects, prefix),
  }
})

checkpointCommandsContract('S3', () => ({ uri: `s3://${bucket}`, env }))
