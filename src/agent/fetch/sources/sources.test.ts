import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'

import { FileServer } from '../../../../test/fakes/file-server.ts'
import { crc32c } from '../../transfer/crc32c.ts'
import { fetchModel } from '../fetch.ts'
import { sourceOf } from './source-of.ts'

interface Place {
  readonly server: FileServer
  readonly directory: string
  readonly fetch: (uri: string, env: NodeJS.ProcessEnv, connections?: number) => Promise<void>
  readonly text: (path: string) => Promise<string>
}

async function place(t: TestContext): Promise<Place> {
  const server = await new FileServer().start()
  const directory = await mkdtemp(join(tmpdir(), 'source-'))
  t.after(async () => {
    await server.stop()
    await rm(directory, { recursive: true, force: true })
  })
  return {
    server,
    directory,
    text: (path) => readFile(join(directory, path), 'utf8'),
    fetch: async (uri, env, connections = 2) =>
      fetchModel(
        { uri, directory, layout: 'file', connections },
        {
          source: await sourceOf(uri, env),
          log: () => {},
          signal: new AbortController().signal,
          retryPolicy: { waitsMs: [1, 1], stallMs: 10_000 },
        },
      ),
  }
}

function put(server: FileServer, path: string, content: string | object): void {
  server.files.set(path, Buffer.from(typeof content === 'string' ? content : JSON.stringify(content)))
}

function gitBlob(text: string): string {
  return createHash('sha1').update(`blob ${text.length}\0${text}`).digest('hex')
}

describe('Hugging Face Hub', () => {
  const COMMIT = 'c'.repeat(40)

  function publish(server: FileServer, files: Readonly<Record<string, string>>, revision = 'main'): void {
    const siblings = Object.entries(files).map(([rfilename, text]) => {
      const size = text.length
      const lfs = { sha256: createHash('sha256').update(text).digest('hex'), size }
      return { rfilename, size, blobId: gitBlob(text), ...(rfilename.endsWith('.safetensors') && { lfs }) }
    })
    put(server, `/api/models/acme/bert/revision/${revision}?blobs=true`, { sha: COMMIT, siblings })
    for (const [path, text] of Object.entries(files)) put(server, `/acme/bert/resolve/${COMMIT}/${path}`, text)
  }

  test('fetches all files of one commit with the token and verifies each', async (t) => {
    const { server, fetch, text } = await place(t)
    publish(server, { 'config.json': '{}', 'onnx/model.safetensors': 'weights' }, 'v1.0')
    await fetch('hf://acme/bert:v1.0', { HF_ENDPOINT: `${server.url}/`, HF_TOKEN: 'hf_x' })
    assert.equal(await text('config.json'), '{}')
    assert.equal(await text('onnx/model.safetensors'), 'weights')
    assert.ok(server.asked.every(({ authorization }) => authorization === 'Bearer hf_x'))
  })

  test('files that were complete before a failure are not fetched again', async (t) => {
    const { server, fetch, text } = await place(t)
    publish(server, { 'a.json': 'first', 'b.json': 'second' })
    const env = { HF_ENDPOINT: server.url }
    server.fault = ({ path }) => (path.endsWith('b.json') ? { status: 404 } : undefined)
    await assert.rejects(fetch('hf://acme/bert', env, 1), { reason: 'ArtifactNotFound' })
    server.fault = () => undefined
    await fetch('hf://acme/bert', env, 1)
    assert.equal(server.asked.filter(({ path }) => path.endsWith('a.json')).length, 1)
    assert.deepEqual([await text('a.json'), await text('b.json')], ['first', 'second'])
  })

  for (const path of ['config.json', 'model.safetensors']) {
    test(`${path} that is not what the Hub says it is`, async (t) => {
      const { server, fetch } = await place(t)
      publish(server, { [path]: 'weights' })
      put(server, `/acme/bert/resolve/${COMMIT}/${path}`, 'welghts')
      await assert.rejects(fetch('hf://acme/bert', { HF_ENDPOINT: server.url }), { reason: 'ChecksumMismatch' })
    })
  }

  test('reports that a model needs a token', async (t) => {
    const { server, fetch } = await place(t)
    server.fault = () => ({ status: 401 })
    const refused = {
      reason: 'AccessDenied',
      message: /a Secret with HF_TOKEN, of an account that has accepted the terms/,
    }
    await assert.rejects(fetch('hf://acme/bert', { HF_ENDPOINT: server.url }), refused)
  })

  test('rejects a name outside of the directory', async (t) => {
    const { server, fetch } = await place(t)
    publish(server, { '../evil': 'x' })
    const refused = { reason: 'Invalid', message: /"\.\.\/evil", which is not a path below/ }
    await assert.rejects(fetch('hf://acme/bert', { HF_ENDPOINT: server.url }), refused)
  })
})

describe('Google Cloud Storage', () => {
  const BUCKET = '/storage/v1/b/models/o'
  const FIELDS = 'name,size,generation,updated,md5Hash,crc32c'

  function metadata(name: string, text: string, by: 'md5' | 'crc32c') {
    const md5Hash = createHash('md5').update(text).digest('base64')
    const sum = Buffer.alloc(4)
    sum.writeUInt32BE(crc32c(Buffer.from(text)))
    const checksum = by === 'md5' ? { md5Hash } : { crc32c: sum.toString('base64') }
    return { name, size: String(text.length), generation: '7', ...checksum }
  }

  function publish(server: FileServer, name: string, text: string, by: 'md5' | 'crc32c' = 'md5') {
    const path = `${BUCKET}/${encodeURIComponent(name)}`
    const query = new URLSearchParams({ fields: FIELDS }).toString()
    server.files.set(`${path}?${query}`, Buffer.from(JSON.stringify(metadata(name, text, by))))
    server.files.set(`${path}?alt=media&ifGenerationMatch=7`, Buffer.from(text))
    return metadata(name, text, by)
  }

  function list(server: FileServer, query: Record<string, string>, page: object): void {
    const { prefix = '', ...rest } = query
    const search = new URLSearchParams({ prefix, fields: `items(${FIELDS}),nextPageToken`, ...rest }).toString()
    server.files.set(`${BUCKET}?${search}`, Buffer.from(JSON.stringify(page)))
  }

  test('fetches one object by a key with special characters', async (t) => {
    const { server, fetch, text } = await place(t)
    publish(server, 'a b/ü+%.bin', 'weights', 'crc32c')
    await fetch('gs://models/a b/ü+%.bin', { STORAGE_EMULATOR_HOST: server.url })
    assert.equal(await text('ü+%.bin'), 'weights')
  })

  test('fetches all objects below a key, page by page, without folder markers', async (t) => {
    const { server, fetch, text } = await place(t)
    const one = publish(server, 'bert/config.json', '{}')
    const two = publish(server, 'bert/w/0.bin', 'weights')
    list(server, { prefix: 'bert/' }, { items: [one, { ...one, name: 'bert/w/' }], nextPageToken: 'next' })
    list(server, { prefix: 'bert/', pageToken: 'next' }, { items: [two] })
    await fetch('gs://models/bert', { STORAGE_EMULATOR_HOST: server.url.replace('http://', '') })
    assert.equal(await text('config.json'), '{}')
    assert.equal(await text('w/0.bin'), 'weights')
  })

  test('rejects a wrong checksum', async (t) => {
    const { server, fetch } = await place(t)
    for (const by of ['md5', 'crc32c'] as const) {
      publish(server, 'm.bin', 'weights', by)
      server.files.set(`${BUCKET}/m.bin?alt=media&ifGenerationMatch=7`, Buffer.from('welghts'))
      const refused = fetch('gs://models/m.bin', { STORAGE_EMULATOR_HOST: server.url })
      await assert.rejects(refused, { reason: 'ChecksumMismatch' }, by)
    }
  })

  test('reports missing objects and missing permissions', async (t) => {
    const { server, fetch } = await place(t)
    list(server, { prefix: 'bert/' }, {})
    const env = { STORAGE_EMULATOR_HOST: server.url }
    await assert.rejects(fetch('gs://models/bert', env), { reason: 'ArtifactNotFound' })
    await assert.rejects(fetch('gs://nomodels/bert', env), {
      reason: 'ArtifactNotFound',
      message: /check the bucket/,
    })
    server.fault = () => ({ status: 403 })
    await assert.rejects(fetch('gs://models/bert', env), { reason: 'AccessDenied', message: /Storage Object Viewer/ })
  })
})
