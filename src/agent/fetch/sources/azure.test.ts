/** Azure Blob Storage against Azurite, the emulator of its vendor. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'
import { BlobServiceClient } from '@azure/storage-blob'

import { TransferError } from '../../transfer/error.ts'
import { fetchModel } from '../fetch.ts'
import { sourceOf } from './source-of.ts'

const AZURITE = join(import.meta.dirname, '../../../../node_modules/azurite/dist/src/blob/main.js')
/** The account and key that every Azurite has. */
const ACCOUNT = 'devstoreaccount1'
const KEY = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=='

let azurite: ChildProcess
let connection = ''

const connectionTo = (url: string, key = KEY): string =>
  `DefaultEndpointsProtocol=http;AccountName=${ACCOUNT};AccountKey=${key};BlobEndpoint=${url}/${ACCOUNT};`

before(async () => {
  const args = ['--blobHost', '127.0.0.1', '--blobPort', '0', '--inMemoryPersistence', '--skipApiVersionCheck']
  azurite = spawn(process.execPath, [AZURITE, ...args, '--disableTelemetry'], { stdio: ['ignore', 'pipe', 'inherit'] })
  const url = await new Promise<string>((resolve, reject) => {
    let output = ''
    azurite.once('exit', (code) => reject(new Error(`Azurite ended with ${code}: ${output}`)))
    azurite.stdout?.on('data', (data: Buffer) => {
      output += data.toString()
      const [found] = /http:\/\/127\.0\.0\.1:[1-9][0-9]*/.exec(output) ?? []
      if (found !== undefined && output.includes('successfully')) resolve(found)
    })
  })
  connection = connectionTo(url)
})

after(() => void azurite.kill())

async function upload(container: string, blobs: Readonly<Record<string, Buffer | string>>): Promise<void> {
  const client = BlobServiceClient.fromConnectionString(connection).getContainerClient(container)
  await client.createIfNotExists()
  for (const [name, content] of Object.entries(blobs)) {
    const bytes = Buffer.from(content)
    await client.getBlockBlobClient(name).uploadData(bytes)
  }
}

async function place(t: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), 'azure-'))
  t.after(() => rm(directory, { recursive: true, force: true }))
  return {
    content: (path: string) => readFile(join(directory, path)),
    fetch: async (uri: string, text = connection): Promise<void> => {
      const env = { AZURE_STORAGE_CONNECTION_STRING: text }
      await fetchModel(
        { uri, directory, layout: 'file', connections: 4 },
        {
          source: await sourceOf(uri, env),
          log: () => {},
          signal: new AbortController().signal,
          retryPolicy: { waitsMs: [1, 1], stallMs: 10_000 },
        },
      )
    },
  }
}

const failsWith = (reason: string, text: RegExp) => (error: unknown) => {
  assert.ok(error instanceof TransferError, String(error))
  assert.equal(error.reason, reason)
  assert.match(error.message, text)
  assert.ok(!error.message.includes(KEY.slice(0, 20)))
  return true
}

describe('Azure Blob Storage', () => {
  test('a blob is fetched in ranges', async (t) => {
    const weights = Buffer.alloc(40_000_000, 'weights')
    await upload('models', { 'bert/model.bin': weights })
    const { fetch, content } = await place(t)
    await fetch('az://models/bert/model.bin')
    assert.ok((await content('model.bin')).equals(weights))
  })

  test('all blobs below a path are fetched, and nothing beside it', async (t) => {
    await upload('tree', { 'm/a.txt': 'a', 'm/b/c d.txt': 'c', 'mm/x.txt': 'x', 'm/empty': '' })
    const { fetch, content } = await place(t)
    await fetch('az://tree/m')
    assert.equal(String(await content('a.txt')), 'a')
    assert.equal(String(await content('b/c d.txt')), 'c')
    assert.equal(String(await content('empty')), '')
    await assert.rejects(content('x.txt'))
  })

  test('what is missing or denied is reported with the fix', async (t) => {
    await upload('present', { a: 'a' })
    const { fetch } = await place(t)
    await assert.rejects(fetch('az://present/none'), failsWith('ArtifactNotFound', /correct the path/))
    await assert.rejects(fetch('az://absent/none'), failsWith('ArtifactNotFound', /check the container/))
    const wrong = connection.replace(KEY, Buffer.from('wrong').toString('base64'))
    await assert.rejects(fetch('az://present/a', wrong), failsWith('AccessDenied', /AZURE_STORAGE_KEY/))
    await assert.rejects(fetch('az://present/a', 'nonsense'), failsWith('Invalid', /correct it/))
    await assert.rejects(sourceOf('az://present/a', {}), failsWith('Invalid', /set AZURE_STORAGE_ACCOUNT/))
  })

  test('a blob that changes after the list is not mixed with its old content', async () => {
    await upload('changing', { a: 'first' })
    const source = await sourceOf('az://changing/a', { AZURE_STORAGE_CONNECTION_STRING: connection })
    const { signal } = new AbortController()
    const [file] = await source.list(signal)
    assert.ok(file)
    await upload('changing', { a: 'other' })
    await assert.rejects(source.read(file, { start: 0, end: 5 }, signal), { name: 'ChangedError' })
  })
})
