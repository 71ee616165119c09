/** Servers that answer anything: an error with a reason, never a checkpoint, never a request outside of the root. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test, type TestContext } from 'node:test'

import { TransferError, TransientError } from '../transfer/error.ts'
import { deleteCheckpoints } from './delete.ts'
import { listCheckpoints } from './inspection.ts'
import { storeOf } from './store-of.ts'
import type { CheckpointStore } from './store.ts'

const { signal } = new AbortController()

async function serve(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const stores: Readonly<Record<string, (endpoint: string) => Promise<CheckpointStore>>> = {
  S3: (endpoint) => storeOf('s3://bucket/run', { AWS_ENDPOINT_URL: endpoint, AWS_NO_SIGN_REQUEST: 'true' }),
  'Google Cloud Storage': (endpoint) => storeOf('gs://bucket/run', { STORAGE_EMULATOR_HOST: endpoint }),
}

const answers: Readonly<Record<string, readonly [status: number, body: string]>> = {
  'an error': [500, 'no'],
  'an overload': [503, '<Error><Code>SlowDown</Code></Error>'],
  'a rejection': [403, '<Error><Code>AccessDenied</Code></Error>'],
  'a page for people': [200, '<!DOCTYPE html><html><body>Welcome</body></html>'],
  bytes: [200, '\0\u0001\u0002'],
  'a redirect': [302, ''],
}

for (const [name, create] of Object.entries(stores)) {
  describe(`${name} that answers`, () => {
    for (const [what, [status, body]] of Object.entries(answers)) {
      test(what, async (t) => {
        const endpoint = await serve(t, (_request, response) => void response.writeHead(status).end(body))
        const found = await listCheckpoints(await create(endpoint), signal).catch((error: unknown) => error)
        if (found instanceof Error)
          assert.ok(found instanceof TransferError || found instanceof TransientError, found.stack)
        else assert.deepEqual((found as { complete: unknown }).complete, [])
      })
    }

    test('nothing, until it is stopped', async (t) => {
      const store = await create(await serve(t, () => {}))
      await assert.rejects(listCheckpoints(store, AbortSignal.timeout(50)))
    })
  })
}

const outside = JSON.stringify({
  items: [{ name: 'other/secret', size: '1', generation: '1' }],
  prefixes: ['run/step-1/', '../../x/', 'run/../y/', 'run/.tmp-x/'],
})

test('a server that lists objects outside of the root cannot make the agent delete them', async (t) => {
  const changed: string[] = []
  const endpoint = await serve(t, (request, response) => {
    if (request.method !== 'GET') changed.push(decodeURIComponent(request.url ?? ''))
    response.end(outside)
  })
  const store = await storeOf('gs://bucket/run', { STORAGE_EMULATOR_HOST: endpoint })
  await deleteCheckpoints(store, { signal, retryPolicy: { waitsMs: [], stallMs: 1_000 } }).catch(() => {})
  for (const url of changed) assert.match(url, /(?:\/o\/|&name=)run\/\.tmp-x\//, url)
})
