/** A server with the JSON API of Google Cloud Storage (fake-gcs-server), with its buckets in a run directory. */

import { fakeGcs } from './assets.ts'
import { provideBinaries } from './binaries.ts'
import { type ObjectServer, type ObjectServerOptions, type Place, startObjectServer } from './object-server.ts'
import { subdirectory } from './run-directory.ts'

const NAME = 'fake-gcs-server'

export async function startGcs(options: ObjectServerOptions = {}): Promise<ObjectServer> {
  const binaries = await provideBinaries([fakeGcs])
  const command = ({ address, port, endpoint, runDirectory }: Place): string[] => {
    const serving = ['-scheme', 'http', '-host', address, '-port', String(port), '-external-url', endpoint]
    const buckets = ['-backend', 'filesystem', '-filesystem-root', subdirectory(runDirectory, 'gcs-buckets')]
    return [binaries.path(NAME), ...serving, ...buckets, '-log-level', 'warn']
  }
  const running = await startObjectServer({ name: NAME, command, health: '/_internal/healthcheck' }, options)
  const post = async (path: string, type: string, body: string | Uint8Array<ArrayBuffer>): Promise<void> => {
    const answer = await fetch(running.endpoint + path, { method: 'POST', headers: { 'content-type': type }, body })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`POST ${path}: ${answer.status}: ${text}`)
  }
  return {
    ...running,
    env: { STORAGE_EMULATOR_HOST: running.endpoint },
    createBucket: (bucket) => post('/storage/v1/b?project=test', 'application/json', JSON.stringify({ name: bucket })),
    put: (bucket, key, content) => {
      const path = `/upload/storage/v1/b/${bucket}/o?uploadType=media&name=${encodeURIComponent(key)}`
      return post(path, 'application/octet-stream', typeof content === 'string' ? content : Uint8Array.from(content))
    },
  }
}
