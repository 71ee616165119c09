/** Checkpoints in a server of Google's JSON API that others wrote. Needs no cluster. */
import { randomUUID } from 'node:crypto'
import { after, before } from 'node:test'

import { gcsCheckpoints } from '../../src/agent/checkpoints/gcs.ts'
import { gcsBucket, GcsStore } from '../../src/agent/objects/gcs.ts'
import { startGcs } from '../../testenv/gcs.ts'
import type { ObjectServer } from '../../testenv/object-server.ts'
import { checkpointCommandsContract } from '../contracts/checkpoint-commands.ts'
import { checkpointStoreContract } from '../contracts/checkpoint-store.ts'
import { objectsBelow } from '../fixtures/checkpoints.ts'

const bucket = 'checkpoints'
let gcs: ObjectServer

before(async () => {
  gcs = await startGcs()
  await gcs.createBucket(bucket)
})

after(() => gcs.stop())

checkpointStoreContract('Google Cloud Storage', async () => {
  const { env } = gcs
  const prefix = `${randomUUID()}/`
  const objects = new GcsStore(gcsBucket(bucket, `gs://${bucket}`, { env, access: 'read' }))
  return {
    store: gcsCheckpoints({ bucket, prefix }, env),
    put: (path, content) => gcs.put(bucket, prefix + path, Buffer.from(content)),
    all: () => objectsBelow(objects, prefix),
  }
})

checkpointCommandsContract('Google Cloud Storage', () => ({ uri: `gs://${bucket}`, env: gcs.env }))
