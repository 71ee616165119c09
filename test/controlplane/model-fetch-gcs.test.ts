/** The agent as a process, with a server of Google's JSON API that others wrote. Needs no cluster. */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'

import { startGcs } from '../../testenv/gcs.ts'
import type { ObjectServer } from '../../testenv/object-server.ts'
import { type Agent, rangesIn, scratch, startAgent } from '../fixtures/agent.ts'
import { until } from '../timing/until.ts'

const BUCKET = 'models'
const LARGE = 100_000_000
const SHARDS = 30

let gcs: ObjectServer
let large: Buffer<ArrayBuffer>

before(async () => {
  gcs = await startGcs()
  await gcs.createBucket(BUCKET)
  large = randomBytes(LARGE)
  await gcs.put(BUCKET, 'large.bin', large)
  for (let index = 0; index < SHARDS; index++) await gcs.put(BUCKET, `bert/shards/${index}.bin`, `shard ${index}`)
  await gcs.put(BUCKET, 'bert/config.json', '{}')
  await gcs.put(BUCKET, 'bert-large/config.json', 'of another model')
})

after(() => gcs.stop())

const sha256 = (content: Uint8Array | string): string => createHash('sha256').update(content).digest('hex')

function start(directory: string, key: string, ...args: readonly string[]): Agent {
  const uri = key.includes('://') ? key : `gs://${BUCKET}/${key}`
  return startAgent(directory, uri, { args, env: gcs.env })
}

describe('a model in Google Cloud Storage', () => {
  test('fetches all objects below a key, and no others', async (t) => {
    const agent = start(await scratch(t), 'bert')
    assert.equal(await agent.ended, 0, agent.lines.join('\n'))
    assert.deepEqual((await readdir(agent.directory)).toSorted(), ['.fetch', 'config.json', 'shards'])
    assert.equal((await readdir(join(agent.directory, 'shards'))).length, SHARDS)
    assert.equal(await readFile(join(agent.directory, 'shards', '7.bin'), 'utf8'), 'shard 7')
  })

  test('verifies the checksum of the spec', async (t) => {
    const right = start(await scratch(t), 'bert/config.json', '--checksum', `sha256:${sha256('{}')}`)
    assert.equal(await right.ended, 0, right.lines.join('\n'))
    const wrong = start(await scratch(t), 'bert/config.json', '--checksum', `sha256:${'0'.repeat(64)}`)
    assert.equal(await wrong.ended, 1)
    assert.equal((await wrong.failure())?.reason, 'ChecksumMismatch')
  })

  test('resumes a large object after a kill', async (t) => {
    const directory = await scratch(t)
    const args = ['--checksum', `sha256:${sha256(large)}`, '--connections', '1']
    const killed = start(directory, 'large.bin', ...args)
    await until('two ranges', () => rangesIn(killed.directory) >= 2)
    gcs.server.pause()
    killed.child.kill('SIGKILL')
    assert.equal(await killed.ended, null)
    gcs.server.resume()
    const safe = rangesIn(killed.directory)
    const resumed = start(directory, 'large.bin', ...args)
    assert.equal(await resumed.ended, 0, resumed.lines.join('\n'))
    const reported = /100 MB, ([\d.]+) MB of it already here/.exec(resumed.lines[0] ?? '')?.[1]
    assert.ok(Math.abs(Number(reported) - (safe * 16 * 1_024 ** 2) / 1e6) < 1, resumed.lines.join('\n'))
    assert.ok((await readFile(join(resumed.directory, 'large.bin'))).equals(large))
    t.diagnostic(`of 100 MB, ${reported} MB were not fetched again`)
  })

  test('never mixes two generations of an object', async (t) => {
    const key = 'changing.bin'
    await gcs.put(BUCKET, key, large.subarray(0, 60_000_000))
    const directory = await scratch(t)
    const agent = start(directory, key, '--connections', '1')
    await until('a range', () => rangesIn(agent.directory) >= 1 || existsSync(join(agent.directory, key)))
    await gcs.put(BUCKET, key, 'new')
    assert.equal(await agent.ended, 0, agent.lines.join('\n'))
    const found = await readFile(join(agent.directory, key))
    assert.ok(found.equals(Buffer.from('new')) || found.equals(large.subarray(0, 60_000_000)))
  })

  for (const [what, key, message] of [
    ['a key that is not there', 'nothing', /neither an object/],
    ['a bucket that is not there', 'gs://nothing/x', /check the bucket/],
  ] as const) {
    test(`reports ${what}`, async (t) => {
      const agent = start(await scratch(t), key)
      assert.equal(await agent.ended, 1, agent.lines.join('\n'))
      const failure = await agent.failure()
      assert.equal(failure?.reason, 'ArtifactNotFound', failure?.message)
      assert.match(failure.message, message)
    })
  }
})
