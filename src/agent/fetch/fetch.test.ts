import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'

import { failsWith, finishedRanges, MB, setUpFetch, sha256 } from '../../../test/fixtures/fetch.ts'
import { FileServer } from '../../../test/fakes/file-server.ts'
import { until } from '../../../test/timing/until.ts'

describe('one file', () => {
  test('is fetched in parallel ranges', async (t) => {
    const { server, fetch, content } = await setUpFetch(t, 40 * MB)
    await fetch({ checksum: sha256(server.files.get('/m.bin')!) })
    assert.ok((await content('m.bin')).equals(server.files.get('/m.bin')!))
    assert.deepEqual(
      server.asked.map(({ range }) => range),
      ['bytes=0-0', 'bytes=0-16777215', 'bytes=16777216-33554431', 'bytes=33554432-39999999'],
    )
  })

  test('is not fetched again until it changes', async (t) => {
    const { server, fetch, content, lines } = await setUpFetch(t)
    await fetch()
    await fetch()
    assert.equal(server.sent, MB + 2)
    assert.match(lines.at(-1)!, /already here and has not changed/)
    server.files.set('/m.bin', Buffer.from('new'))
    await fetch()
    assert.equal((await content('m.bin')).toString(), 'new')
  })

  test('is fetched again if it was damaged on disk', async (t) => {
    const { server, fetch, content, directory } = await setUpFetch(t)
    await fetch()
    await writeFile(join(directory, 'm.bin'), 'damaged')
    await fetch()
    assert.ok((await content('m.bin')).equals(server.files.get('/m.bin')!))
  })

  test('is used without the server if it is complete', async (t) => {
    const { server, fetch, lines } = await setUpFetch(t)
    await fetch()
    server.fault = () => ({ status: 503 })
    await fetch()
    assert.match(lines.at(-1)!, /is unreachable .* using the complete copy of \d{4}-/)
  })

  test('needs no server if its expected checksum was verified', async (t) => {
    const { server, fetch } = await setUpFetch(t)
    const checksum = sha256(server.files.get('/m.bin')!)
    await fetch({ checksum })
    const before = server.asked.length
    await fetch({ checksum })
    assert.equal(server.asked.length, before)
  })

  test('resumes after a broken connection', async (t) => {
    const { server, fetch, content } = await setUpFetch(t, 20 * MB)
    server.fault = ({ range }, count) => (range !== 'bytes=0-0' && count < 5 ? { cutAfter: 5 * MB } : undefined)
    await fetch()
    assert.ok((await content('m.bin')).equals(server.files.get('/m.bin')!))
    const starts = server.asked.map(({ range }) => Number(range?.match(/\d+/)?.[0]))
    assert.ok(starts.filter((start) => start > 0 && start !== 16_777_216).length > 0, String(starts))
  })

  test('resumes after a killed run', async (t) => {
    const { server, fetch, content, lines, directory } = await setUpFetch(t, 40 * MB)
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

  test('is fetched again if it changes during the fetch', async (t) => {
    const { server, fetch, content, lines } = await setUpFetch(t, 40 * MB)
    server.fault = ({ range }) => {
      if (range?.startsWith('bytes=16777216-') === true) server.files.set('/m.bin', Buffer.alloc(20 * MB, 'n'))
      return undefined
    }
    await fetch({ connections: 1 })
    assert.ok((await content('m.bin')).equals(Buffer.alloc(20 * MB, 'n')))
    assert.ok(lines.some((line) => line.includes('has changed while it was fetched: starting again')))
  })

  test('is fetched again if it changes to content of the same size, on a server that ignores If-Range', async (t) => {
    const { server, fetch, content } = await setUpFetch(t, 40 * MB)
    server.hasIfRange = false
    const changed = Buffer.alloc(40 * MB, 'n')
    server.fault = ({ range }) => {
      if (range?.startsWith('bytes=16777216-') === true) server.files.set('/m.bin', changed)
      return undefined
    }
    await fetch({ connections: 1 })
    assert.ok((await content('m.bin')).equals(changed))
  })

  test('of a server without ranges, lengths and tags is fetched as a whole, again after a broken connection', async (t) => {
    const { server, fetch, content } = await setUpFetch(t)
    Object.assign(server, { hasRanges: false, hasLength: false, hasTags: false })
    server.fault = (_, count) => (count === 2 ? { cutAfter: MB / 2 } : undefined)
    await fetch()
    assert.ok((await content('m.bin')).equals(server.files.get('/m.bin')!))
    await fetch()
    assert.ok(server.sent > 4 * MB, 'without a validator the file is fetched again from the start')
  })

  test('may be empty', async (t) => {
    const { server, fetch, content } = await setUpFetch(t)
    server.files.set('/m.bin', new Uint8Array())
    server.hasRanges = false
    await fetch()
    assert.equal((await content('m.bin')).length, 0)
  })

  test('is fetched once by two concurrent fetches', async (t) => {
    const { server, fetch, content } = await setUpFetch(t, 20 * MB)
    await Promise.all([fetch(), fetch()])
    assert.equal(server.sent, 20 * MB + 2)
    assert.ok((await content('m.bin')).equals(server.files.get('/m.bin')!))
  })

  test('is fetched without waiting if the holder of the lock has died', async (t) => {
    const { fetch, directory, lines } = await setUpFetch(t)
    await mkdir(join(directory, '.fetch'))
    const dead = { id: 'x', host: hostname(), pid: process.pid, started: '1', beat: 0 }
    await writeFile(join(directory, '.fetch', 'lock'), JSON.stringify(dead))
    await fetch()
    assert.ok(!lines.some((line) => line.includes('waiting')))
    assert.ok(!existsSync(join(directory, '.fetch', 'lock')))
  })
})

describe('failures have a reason', () => {
  const cases = [
    { status: 401, reason: 'AccessDenied', message: /answers 401; give the pod a Secret with HTTP_AUTHORIZATION/ },
    { status: 403, reason: 'AccessDenied', message: /answers 403/ },
    { status: 404, reason: 'ArtifactNotFound', message: /answers 404; check the URL/ },
    { status: 410, reason: 'ArtifactNotFound', message: /answers 410/ },
    { status: 429, reason: 'Unreachable', message: /answers 429, after several attempts/ },
    { status: 500, reason: 'Unreachable', message: /answers 500, after several attempts: check the address/ },
    { status: 400, reason: 'Invalid', message: /answers 400: the request is invalid/ },
  ]
  for (const { status, reason, message } of cases) {
    test(`${status} from the server: ${reason}`, async (t) => {
      const { server, fetch } = await setUpFetch(t)
      server.fault = () => ({ status })
      await assert.rejects(fetch(), failsWith(reason, message))
      assert.equal(server.asked.length, reason === 'Unreachable' ? 4 : 1)
    })
  }

  test('a server that keeps failing in the middle', async (t) => {
    const { server, fetch } = await setUpFetch(t, 20 * MB)
    server.fault = ({ range }) => (range === 'bytes=0-0' ? undefined : { cutAfter: 0 })
    await assert.rejects(fetch(), failsWith('Unreachable', /m\.bin.* after several attempts/))
  })

  test('a server that stops sending', async (t) => {
    const { server, fetch } = await setUpFetch(t, 20 * MB)
    server.fault = ({ range }) => (range === 'bytes=0-0' ? undefined : { silentAfter: 0 })
    const retryPolicy = { waitsMs: [1], stallMs: 50 }
    await assert.rejects(fetch({}, { retryPolicy }), failsWith('Unreachable', /no data for 0\.05 s/))
  })

  test('a closed port', async (t) => {
    const { fetch, server } = await setUpFetch(t)
    const uri = `${server.url}/m.bin`
    await server.stop()
    await assert.rejects(fetch({ uri }), failsWith('Unreachable', /ECONNREFUSED/))
  })

  test('content with another checksum; nothing of it stays', async (t) => {
    const { fetch, directory } = await setUpFetch(t)
    const checksum = sha256(Buffer.from('other'))
    await assert.rejects(fetch({ checksum }), failsWith('ChecksumMismatch', /has sha256 \w+, but \w+ was expected/))
    assert.deepEqual(readdirSync(directory), ['.fetch'])
  })

  test('a new expected checksum for a file that is complete', async (t) => {
    const { fetch } = await setUpFetch(t)
    await fetch()
    const checksum = sha256(Buffer.from('other'))
    await assert.rejects(fetch({ checksum }), failsWith('ChecksumMismatch', /was expected/))
  })

  test('too little disk space, before anything is fetched', async (t) => {
    const { server, fetch } = await setUpFetch(t, 20 * MB)
    const freeBytes = (): Promise<number> => Promise.resolve(19 * MB)
    await assert.rejects(fetch({}, { freeBytes }), failsWith('NoSpace', /needs 20 MB more, but .* has 19 MB free/))
    assert.equal(server.sent, 1)
  })

  test('an unknown scheme', async (t) => {
    const { fetch } = await setUpFetch(t)
    await assert.rejects(
      fetch({ uri: 'ftp://u:secret@host/m?sig=x' }),
      failsWith('Invalid', /^ftp:\/\/host\/m: unknown scheme/),
    )
    await assert.rejects(fetch({ uri: 'hf://bert' }), failsWith('Invalid', /hf:\/\/owner\/model\[:revision\]/))
    await assert.rejects(fetch({ uri: 's3:///key' }), failsWith('Invalid', /s3:\/\/bucket\/key/))
  })
})

describe('redirects', () => {
  test('are followed without credentials', async (t) => {
    const { server, fetch, content } = await setUpFetch(t)
    const other = await new FileServer().start()
    t.after(() => other.stop())
    other.files.set('/blob', Buffer.from('blob'))
    server.fault = () => ({ location: `${other.url}/blob` })
    await fetch({ uri: server.url.replace('//', '//user:secret@') + '/m.bin' })
    assert.equal((await content('m.bin')).toString(), 'blob')
    assert.match(server.asked[0]!.authorization!, /^Basic /)
    assert.equal(other.asked[0]!.authorization, undefined)
  })

  test('are limited in number and not followed to another protocol', async (t) => {
    const { server, fetch } = await setUpFetch(t)
    server.fault = () => ({ location: '/m.bin' })
    await assert.rejects(fetch(), failsWith('Invalid', /redirects more than 10 times/))
    server.fault = () => ({ location: 'file:///etc/passwd' })
    await assert.rejects(fetch(), failsWith('Invalid', /which is not followed/))
  })
})

describe('nothing is written outside of the directory', () => {
  test('not by the name of a file', async (t) => {
    const { fetch, server } = await setUpFetch(t)
    await assert.rejects(fetch({ uri: `${server.url}/..%2Fm.bin` }), (error) => error instanceof Error)
    assert.ok(!existsSync(join(tmpdir(), 'm.bin')))
  })

  test('not through a link', async (t) => {
    const { fetch, server, directory } = await setUpFetch(t)
    const outside = await mkdtemp(join(tmpdir(), 'outside-'))
    t.after(() => rm(outside, { recursive: true }))
    await mkdir(join(directory, 'bert'))
    await symlink(outside, join(directory, 'bert', '1'))
    const request = { layout: 'repository', modelName: 'bert', uri: `${server.url}/m.bin` } as const
    await assert.rejects(fetch(request), failsWith('Invalid', /outside of .*: remove that link/))
    assert.deepEqual(readdirSync(outside), [])
  })
})
