/** The agent as a process, with a real S3 server. Needs no cluster, but takes too long for a unit test. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'

import { failureOf } from '../../src/agent/fetch/failure.ts'
import { fetchModel } from '../../src/agent/fetch/fetch.ts'
import { sourceOf } from '../../src/agent/fetch/sources/source-of.ts'
import { type S3Server, startS3 } from '../../testenv/s3.ts'
import { type Agent, type AgentOptions, rangesIn, scratch, startAgent } from '../fixtures/agent.ts'
import { until } from '../timing/until.ts'

const BUCKET = 'models'
const LARGE = 200_000_000

let s3: S3Server
let large: Buffer

before(async () => {
  s3 = await startS3()
  await s3.createBucket(BUCKET)
  large = randomBytes(LARGE)
  await s3.put(BUCKET, 'large.bin', large)
  for (let index = 0; index < 30; index++) await s3.put(BUCKET, `bert/shards/${index}.bin`, `shard ${index}`)
  await s3.put(BUCKET, 'bert/config.json', '{}')
  await s3.put(BUCKET, 'bert-large/config.json', 'of another model')
})

after(() => s3.stop())

function start(directory: string, key: string, { args = [], env = {} }: AgentOptions = {}): Agent {
  const uri = key.includes('://') ? key : `s3://${BUCKET}/${key}`
  return startAgent(directory, uri, { args, env: { ...s3.env, AWS_EC2_METADATA_DISABLED: 'true', ...env } })
}

describe('a model in S3', () => {
  test('fetches all objects below a key, and no others', async (t) => {
    const agent = start(await scratch(t), 'bert')
    assert.equal(await agent.ended, 0, agent.lines.join('\n'))
    assert.deepEqual((await readdir(agent.directory)).toSorted(), ['.fetch', 'config.json', 'shards'])
    assert.equal((await readdir(join(agent.directory, 'shards'))).length, 30)
    assert.equal(await readFile(join(agent.directory, 'shards', '7.bin'), 'utf8'), 'shard 7')
  })

  test('verifies the checksum of a directory, as sha256sum computes it', async (t) => {
    const directory = await scratch(t)
    const agent = start(directory, 'bert')
    assert.equal(await agent.ended, 0, agent.lines.join('\n'))
    const listing = `find . -type f -not -path './.fetch/*' -printf '%P\\n' | LC_ALL=C sort | xargs -d '\\n' sha256sum | sha256sum`
    const sum = execFileSync('sh', ['-c', listing], { cwd: agent.directory, encoding: 'utf8' }).split(' ')[0] ?? ''
    const right = start(await scratch(t), 'bert', { args: ['--checksum', `sha256:${sum}`] })
    assert.equal(await right.ended, 0, right.lines.join('\n'))
    const wrong = start(await scratch(t), 'bert', { args: ['--checksum', `sha256:${'0'.repeat(64)}`] })
    assert.equal(await wrong.ended, 1)
    assert.equal((await wrong.failure())?.reason, 'ChecksumMismatch')
  })

  test('resumes a large object after a kill', async (t) => {
    const directory = await scratch(t)
    const checksum = createHash('sha256').update(large).digest('hex')
    const args = ['--checksum', `sha256:${checksum}`, '--connections', '2']
    const killed = start(directory, 'large.bin', { args })
    await until('three ranges', () => rangesIn(killed.directory) >= 3)
    s3.server.pause()
    killed.child.kill('SIGKILL')
    assert.equal(await killed.ended, null)
    s3.server.resume()
    const safe = rangesIn(killed.directory)
    const resumed = start(directory, 'large.bin', { args })
    assert.equal(await resumed.ended, 0, resumed.lines.join('\n'))
    const reported = /200 MB, ([\d.]+) MB of it already here/.exec(resumed.lines[0] ?? '')?.[1]
    assert.ok(Math.abs(Number(reported) - (safe * 16 * 1_024 ** 2) / 1e6) < 1, resumed.lines.join('\n'))
    assert.ok((await readFile(join(resumed.directory, 'large.bin'))).equals(large))
    t.diagnostic(`of 200 MB, ${reported} MB were not fetched again`)

    const again = start(directory, 'large.bin', { args })
    assert.equal(await again.ended, 0)
    assert.match(again.lines[0] ?? '', /already here, with the expected checksum/)
  })

  test('fetches once for two pods that share a volume', async (t) => {
    const directory = await scratch(t)
    const both = [start(directory, 'large.bin'), start(directory, 'large.bin')]
    for (const agent of both) assert.equal(await agent.ended, 0, agent.lines.join('\n'))
    assert.equal(both.filter(({ lines }) => lines.some((line) => line.startsWith('fetching '))).length, 1)
    assert.ok((await readFile(join(directory, 'model', 'large.bin'))).equals(large))
  })

  test('never mixes two versions of an object', async (t) => {
    const key = 'changing.bin'
    await s3.put(BUCKET, key, large.subarray(0, 100_000_000))
    const agent = start(await scratch(t), key, { args: ['--connections', '1'] })
    await until('a range', () => rangesIn(agent.directory) >= 1 || existsSync(join(agent.directory, key)))
    await s3.put(BUCKET, key, 'new')
    assert.equal(await agent.ended, 0, agent.lines.join('\n'))
    const found = await readFile(join(agent.directory, key))
    assert.ok(found.equals(Buffer.from('new')) || found.equals(large.subarray(0, 100_000_000)))
  })
})

describe('a failed fetch from S3 reports', () => {
  const wrongKey = { AWS_ACCESS_KEY_ID: 'nobody' }
  const wrongSecret = { AWS_SECRET_ACCESS_KEY: 'hush-hush' }
  const none = { AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined }
  const cases = [
    { name: 'a key that is not there', key: 'nothing', reason: 'ArtifactNotFound', message: /neither an object/ },
    { name: 'a bucket that is not there', key: 's3://nothing/x', reason: 'ArtifactNotFound', message: /NoSuchBucket/ },
    { name: 'an unknown access key', key: 'bert', env: wrongKey, reason: 'AccessDenied', message: /Secret/ },
    { name: 'a wrong secret key', key: 'bert', env: wrongSecret, reason: 'AccessDenied', message: /Secret/ },
    { name: 'no credentials', key: 'bert', env: none, reason: 'AccessDenied', message: /the pod has no credentials/ },
  ]
  for (const { name, key, env, reason, message } of cases) {
    test(`${name}: ${reason}`, async (t) => {
      const agent = start(await scratch(t), key, env === undefined ? {} : { env })
      assert.equal(await agent.ended, 1, agent.lines.join('\n'))
      const failure = await agent.failure()
      assert.equal(failure?.reason, reason, failure?.message)
      assert.match(failure.message, message)
      assert.ok(!JSON.stringify([failure, agent.lines]).includes('hush'))
    })
  }
})

describe('a volume that is too small', { skip: process.getuid?.() === 0 ? false : 'mounting needs root' }, () => {
  async function smallVolume(t: TestContext): Promise<string> {
    const directory = await mkdtemp(join(tmpdir(), 'model-'))
    const volume = join(directory, 'model')
    await mkdir(volume)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=50m', 'tmpfs', volume])
    t.after(async () => {
      execFileSync('umount', ['-l', volume])
      await rm(directory, { recursive: true })
    })
    return directory
  }

  test('is detected before anything is fetched', async (t) => {
    const agent = start(await smallVolume(t), 'large.bin')
    assert.equal(await agent.ended, 1)
    const failure = await agent.failure()
    assert.equal(failure?.reason, 'NoSpace')
    assert.match(failure.message, /needs 200 MB more, but the volume of \S+ has 52\.\d MB free: enlarge the volume/)
  })

  test('that is filled meanwhile is detected too', async (t) => {
    const directory = join(await smallVolume(t), 'model')
    await writeFile(join(directory, 'other'), Buffer.alloc(30_000_000))
    // The SDK reads credentials from the environment of the process.
    Object.assign(process.env, s3.env)
    const source = await sourceOf(`s3://${BUCKET}/large.bin`, s3.env)
    const request = { uri: 'x', directory, layout: 'file', connections: 2 } as const
    const { signal } = new AbortController()
    const failed = fetchModel(request, { source, log: () => {}, signal, freeBytes: () => Promise.resolve(Infinity) })
    const failure = await failed.then(
      () => undefined,
      (error: unknown) => failureOf(error, directory),
    )
    assert.equal(failure?.reason, 'NoSpace', failure?.message)
  })
})
