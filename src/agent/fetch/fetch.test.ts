import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'

import { FileServer } from '../../../test/file-server.ts'
import { until } from '../../../test/until.ts'
import { FetchError } from './error.ts'
import { fetchModel, type FetchOptions, type FetchRequest } from './fetch.ts'
import { sourceOf } from './sources/source-of.ts'

const MB = 1_000_000
const PATIENCE = { waitsMs: [1, 1, 1], stallMs: 10_000 }

interface Scene {
  readonly server: FileServer
  readonly directory: string
  readonly lines: string[]
  readonly fetch: (request?: Partial<FetchRequest>, options?: Partial<FetchOptions>) => Promise<void>
  readonly content: (path: string) => Promise<Buffer>
}

/** A server with a model of this size at `/m.bin`, and a directory to fetch it into. */
async function scene(t: TestContext, size = MB): Promise<Scene> {
  const server = await new FileServer().start()
  const directory = await mkdtemp(join(tmpdir(), 'fetch-'))
  t.after(async () => {
    await server.stop()
    await rm(directory, { recursive: true, force: true })
  })
  server.files.set('/m.bin', randomBytes(size))
  const lines: string[] = []
  return {
    server,
    directory,
    lines,
    content: (path) => readFile(join(directory, path)),
    fetch: async (request, options) => {
      const uri = request?.uri ?? `${server.url}/m.bin`
      await fetchModel(
        { uri, directory, layout: 'file', connections: 4, ...request },
        {
          source: await sourceOf(uri, {}),
          log: (line) => void lines.push(line),
          signal: new AbortController().signal,
          patience: PATIENCE,
          ...options,
        },
      )
    },
  }
}

function sha256(bytes: Uint8Array) {
  return { algorithm: 'sha256', value: createHash('sha256').update(bytes).digest('hex') } as const
}

/** What a run that ends now leaves to the next one. */
async function finishedRanges(directory: string): Promise<number> {
  const name = readdirSync(join(directory, '.fetch')).find((one) => one.endsWith('.ranges'))
  const text = name === undefined ? '' : await readFile(join(directory, '.fetch', name), 'utf8')
  return text.split('\n').length - 1
}

function failsWith(reason: string, message: RegExp) {
  return (error: unknown): boolean => {
    assert.ok(error instanceof FetchError, String((error as Error).stack))
    assert.equal(error.reason, reason, error.message)
    assert.match(error.message, message)
    return true
  }
}

describe('one file', () => {
  test('comes in ranges, some at once, and is whole', async (t) => {
    const { server, fetch, content } = await scene(t, 40 * MB)
    await fetch({ checksum: sha256(server.files.get('/m.bin')!) })
    assert.ok((await content('m.bin')).equals(server.files.get('/m.bin')!))
    assert.deepEqual(
      server.asked.map(({ range }) => range),
      ['bytes=0-0', 'bytes=0-16777215', 'bytes=16777216-33554431', 'bytes=33554432-39999999'],
    )
  })

  test('that is here already is not fetched again, until it changes', async (t) => {
    const { server, fetch, content, lines } = await scene(t)
    await fetch()
    await fetch()
    assert.equal(server.sent, MB + 2)
    assert.match(lines.at(-1)!, /already here and has not changed/)
    server.files.set('/m.bin', Buffer.from('new'))
    await fetch()
    assert.equal((await content('m.bin')).toString(), 'new')
  })

  test('that was damaged on disk is fetched again', async (t) => {
    const { server, fetch, content, directory } = await scene(t)
    await fetch()
    await writeFile(join(directory, 'm.bin'), 'damaged')
    await fetch()
    assert.ok((await content('m.bin')).equals(server.files.get('/m.bin')!))
  })

  test('that is here already is enough when the server is not', async (t) => {
    const { server, fetch, lines } = await scene(t)
    await fetch()
    server.fault = () => ({ status: 503 })
    await fetch()
    assert.match(lines.at(-1)!, /cannot be reached .* the complete copy of \d{4}-/)
  })

  test('whose checksum is known and was found needs no server at all', async (t) => {
    const { server, fetch } = await scene(t)
    const checksum = sha256(server.files.get('/m.bin')!)
    await fetch({ checksum })
    const before = server.asked.length
    await fetch({ checksum })
    assert.equal(server.asked.length, before)
  })

  test('goes on where a cut connection left off', async (t) => {
    const { server, fetch, content } = await scene(t, 20 * MB)
    server.fault = ({ range }, count) => (range !== 'bytes=0-0' && count < 5 ? { cutAfter: 5 * MB } : undefined)
    await fetch()
    assert.ok((await content('m.bin')).equals(server.files.get('/m.bin')!))
    const starts = server.asked.map(({ range }) => Number(range?.match(/\d+/)?.[0]))
    assert.ok(starts.filter((start) => start > 0 && start !== 16_777_216).length > 0, String(starts))
  })

  test('goes on where an ended run left off', async (t) => {
    const { server, fetch, content, lines, directory } = await scene(t, 40 * MB)
    const stop = new AbortController()
    server.fault = ({ range }) => (range?.startsWith('bytes=33554432-') === true ? { silentAfter: 1 } : undefined)
    const ended = fetch({}, { signal: stop.signal })
    await until('two ranges', async () => (await finishedRanges(directory)) === 2)
    stop.abort()
    await assert.rejects(ended)
    server.fault = () => undefined
    const before = server.sent
    await fetch()
    assert.equal(server.sent - before, 1 + 40 * MB - 33_554_432)
    assert.match(lines.at(-2)!, /40 MB, 33\.6 MB of it already here/)
    assert.ok((await content('m.bin')).equals(server.files.get('/m.bin')!))
  })

  test('that changes on the way is fetched as it is then', async (t) => {
    const { server, fetch, content, lines } = await scene(t, 40 * MB)
    server.fault = ({ range }) => {
      if (range?.startsWith('bytes=16777216-') === true) server.files.set('/m.bin', Buffer.alloc(20 * MB, 'n'))
      return undefined
    }
    await fetch({ connections: 1 })
    assert.ok((await content('m.bin')).equals(Buffer.alloc(20 * MB, 'n')))
    assert.ok(lines.some((line) => line.includes('has changed while it was fetched: starting over')))
  })

  test('of a server without ranges, lengths and tags comes in one go, from the start after a cut', async (t) => {
    const { server, fetch, content } = await scene(t)
    Object.assign(server, { hasRanges: false, hasLength: false, hasTags: false })
    server.fault = (_, count) => (count === 2 ? { cutAfter: MB / 2 } : undefined)
    await fetch()
    assert.ok((await content('m.bin')).equals(server.files.get('/m.bin')!))
    await fetch()
    assert.ok(server.sent > 4 * MB, 'nobody can tell whether it has changed')
  })

  test('of no bytes is a file', async (t) => {
    const { server, fetch, content } = await scene(t)
    server.files.set('/m.bin', new Uint8Array())
    server.hasRanges = false
    await fetch()
    assert.equal((await content('m.bin')).length, 0)
  })

  test('that is fetched by two at once is fetched once', async (t) => {
    const { server, fetch, content } = await scene(t, 20 * MB)
    await Promise.all([fetch(), fetch()])
    assert.equal(server.sent, 20 * MB + 2)
    assert.ok((await content('m.bin')).equals(server.files.get('/m.bin')!))
  })

  test('is not waited for when the one that fetched it has died', async (t) => {
    const { fetch, directory, lines } = await scene(t)
    await mkdir(join(directory, '.fetch'))
    const dead = { id: 'x', host: hostname(), pid: process.pid, started: '1', beat: 0 }
    await writeFile(join(directory, '.fetch', 'lock'), JSON.stringify(dead))
    await fetch()
    assert.ok(!lines.some((line) => line.includes('waiting')))
    assert.ok(!existsSync(join(directory, '.fetch', 'lock')))
  })
})

describe('what fails says why', () => {
  const cases = [
    { status: 401, reason: 'AccessDenied', message: /answers 401; give the pod a Secret with HTTP_AUTHORIZATION/ },
    { status: 403, reason: 'AccessDenied', message: /answers 403/ },
    { status: 404, reason: 'ArtifactNotFound', message: /answers 404; is the URL right/ },
    { status: 410, reason: 'ArtifactNotFound', message: /answers 410/ },
    { status: 429, reason: 'Unreachable', message: /answers 429, after several tries/ },
    { status: 500, reason: 'Unreachable', message: /answers 500, after several tries: is the address right/ },
    { status: 400, reason: 'Invalid', message: /answers 400, which means that the request itself is wrong/ },
  ]
  for (const { status, reason, message } of cases) {
    test(`${status} from the server: ${reason}`, async (t) => {
      const { server, fetch } = await scene(t)
      server.fault = () => ({ status })
      await assert.rejects(fetch(), failsWith(reason, message))
      assert.equal(server.asked.length, reason === 'Unreachable' ? 4 : 1)
    })
  }

  test('a server that errs in the middle, and goes on erring', async (t) => {
    const { server, fetch } = await scene(t, 20 * MB)
    server.fault = ({ range }) => (range === 'bytes=0-0' ? undefined : { cutAfter: 0 })
    await assert.rejects(fetch(), failsWith('Unreachable', /m\.bin.* after several tries/))
  })

  test('a server that falls silent', async (t) => {
    const { server, fetch } = await scene(t, 20 * MB)
    server.fault = ({ range }) => (range === 'bytes=0-0' ? undefined : { silentAfter: 0 })
    const patience = { waitsMs: [1], stallMs: 50 }
    await assert.rejects(fetch({}, { patience }), failsWith('Unreachable', /nothing was received for 0\.05 s/))
  })

  test('a port that nobody listens on', async (t) => {
    const { fetch, server } = await scene(t)
    const uri = `${server.url}/m.bin`
    await server.stop()
    await assert.rejects(fetch({ uri }), failsWith('Unreachable', /ECONNREFUSED/))
  })

  test('another content than was asked for; nothing of it stays', async (t) => {
    const { fetch, directory } = await scene(t)
    const checksum = sha256(Buffer.from('other'))
    await assert.rejects(fetch({ checksum }), failsWith('ChecksumMismatch', /has sha256 \w+, but \w+ was asked for/))
    assert.deepEqual(readdirSync(directory), ['.fetch'])
  })

  test('a checksum that is asked for later, of a file that is here', async (t) => {
    const { fetch } = await scene(t)
    await fetch()
    const checksum = sha256(Buffer.from('other'))
    await assert.rejects(fetch({ checksum }), failsWith('ChecksumMismatch', /was asked for/))
  })

  test('too little room, before anything is fetched', async (t) => {
    const { server, fetch } = await scene(t, 20 * MB)
    const freeBytes = (): Promise<number> => Promise.resolve(19 * MB)
    await assert.rejects(fetch({}, { freeBytes }), failsWith('NoSpace', /needs 20 MB more, but .* has 19 MB free/))
    assert.equal(server.sent, 1)
  })

  test('a scheme that is none of ours', async (t) => {
    const { fetch } = await scene(t)
    await assert.rejects(
      fetch({ uri: 'ftp://u:secret@host/m?sig=x' }),
      failsWith('Invalid', /^ftp:\/\/host\/m: a model/),
    )
    await assert.rejects(fetch({ uri: 'hf://bert' }), failsWith('Invalid', /hf:\/\/owner\/model\[:revision\]/))
    await assert.rejects(fetch({ uri: 's3:///key' }), failsWith('Invalid', /s3:\/\/bucket\/key/))
  })
})

describe('redirects', () => {
  test('are followed, without the secrets of where they come from', async (t) => {
    const { server, fetch, content } = await scene(t)
    const other = await new FileServer().start()
    t.after(() => other.stop())
    other.files.set('/blob', Buffer.from('blob'))
    server.fault = () => ({ location: `${other.url}/blob` })
    await fetch({ uri: server.url.replace('//', '//user:secret@') + '/m.bin' })
    assert.equal((await content('m.bin')).toString(), 'blob')
    assert.match(server.asked[0]!.authorization!, /^Basic /)
    assert.equal(other.asked[0]!.authorization, undefined)
  })

  test('are not followed without end, nor to another protocol', async (t) => {
    const { server, fetch } = await scene(t)
    server.fault = () => ({ location: '/m.bin' })
    await assert.rejects(fetch(), failsWith('Invalid', /redirects more than 10 times/))
    server.fault = () => ({ location: 'file:///etc/passwd' })
    await assert.rejects(fetch(), failsWith('Invalid', /which is not followed/))
  })
})

describe('nothing is written outside of the directory', () => {
  test('not by the name of a file', async (t) => {
    const { fetch, server } = await scene(t)
    await assert.rejects(fetch({ uri: `${server.url}/..%2Fm.bin` }), (error) => error instanceof Error)
    assert.ok(!existsSync(join(tmpdir(), 'm.bin')))
  })

  test('not through a link', async (t) => {
    const { fetch, server, directory } = await scene(t)
    const outside = await mkdtemp(join(tmpdir(), 'outside-'))
    t.after(() => rm(outside, { recursive: true }))
    await mkdir(join(directory, 'bert'))
    await symlink(outside, join(directory, 'bert', '1'))
    const request = { layout: 'repository', modelName: 'bert', uri: `${server.url}/m.bin` } as const
    await assert.rejects(fetch(request), failsWith('Invalid', /outside of .*: remove that link/))
    assert.deepEqual(readdirSync(outside), [])
  })
})
