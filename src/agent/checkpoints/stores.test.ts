import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { checkpointStoreContract } from '../../../test/contracts/checkpoint-store.ts'
import { MemoryObjects } from '../../../test/fakes/memory-objects.ts'
import { bytesIn, checkpointDirectory } from '../../../test/fixtures/checkpoints.ts'
import { BucketStore } from './bucket.ts'
import { DirectoryStore } from './directory.ts'

checkpointStoreContract('a directory', async (t) => {
  const root = await checkpointDirectory(t)
  return {
    store: new DirectoryStore(root),
    all: () => bytesIn(root),
    put: async (path, content) => {
      await mkdir(dirname(join(root, path)), { recursive: true })
      await writeFile(join(root, path), content)
    },
  }
})

for (const prefix of ['', 'team/run-1/']) {
  checkpointStoreContract(`a bucket with the prefix '${prefix}'`, async () => {
    const objects = new MemoryObjects()
    return {
      store: new BucketStore(objects, {
        prefix,
        shown: `mem://bucket/${prefix}`,
        retryPolicy: { waitsMs: [], stallMs: 1_000 },
      }),
      all: async () =>
        Object.fromEntries(
          [...objects.objects].map(([key, { bytes }]) => [key.slice(prefix.length), Buffer.from(bytes)]),
        ),
      put: async (path, content) => objects.set(prefix + path, Buffer.from(content)),
    }
  })
}
