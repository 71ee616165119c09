/** The agent is killed at random times and started again: nothing incomplete ever counts as complete. Needs no cluster. */
import assert from 'node:assert/strict'
import { createHash, randomBytes, randomInt, randomUUID } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'

import { contentOf } from '../../src/agent/checkpoints/content.ts'
import { listCheckpoints } from '../../src/agent/checkpoints/inspection.ts'
import { storeOf } from '../../src/agent/checkpoints/store-of.ts'
import { type S3Server, startS3 } from '../../testenv/s3.ts'
import { type AgentProcess, spawnAgent } from '../fixtures/agent.ts'
import { checkpointDirectory, nameOf, save, saveBytes } from '../fixtures/checkpoints.ts'
import { until } from '../timing/until.ts'

const BUCKET = 'checkpoints'
const KILLS = 3
const STEP = 9
const { signal } = new AbortController()

let s3: S3Server

before(async () => {
  s3 = await startS3()
  // The SDK reads the credentials from the environment of the process.
  Object.assign(process.env, s3.env, { AWS_EC2_METADATA_DISABLED: 'true' })
  await s3.createBucket(BUCKET)
})

after(() => s3.stop())

/** Many small files and a large one. */
function largeFiles(): Record<string, Buffer> {
  const small = Array.from({ length: 40 }, (_, index) => [`shards/${index}.bin`, randomBytes(50_000)] as const)
  return { ...Object.fromEntries(small), 'large.bin': randomBytes(20_000_000) }
}

/** Digests of the files of a complete checkpoint; undefined if it is not complete. */
async function digests(root: string, name: string): Promise<Record<string, string> | undefined> {
  const content = await contentOf(await storeOf(root, process.env), name, {
    signal,
    retryPolicy: { waitsMs: [], stallMs: 10_000 },
  })
  if (content === undefined) return undefined
  const found: Record<string, string> = {}
  for (const [path, size] of content.marker.files) {
    const hash = createHash('sha256')
    for await (const bytes of content.read(path, { start: 0, end: size }, signal)) hash.update(bytes)
    found[path] = hash.digest('hex')
  }
  return found
}

async function steps(root: string): Promise<readonly number[]> {
  return (await listCheckpoints(await storeOf(root, process.env), signal)).complete.map(({ step }) => step)
}

/** Kills the agent at a random time of its run. The times vary, so the delay is part of the test. */
async function killed(start: () => AgentProcess): Promise<void> {
  const agent = start()
  await Promise.race([agent.ended, delay(randomInt(250, 1_000))])
  agent.child.kill('SIGKILL')
  await agent.ended
}

async function succeeds(agent: AgentProcess): Promise<void> {
  assert.equal(await agent.ended, 0, agent.lines.join('\n'))
}

/** A directory with a large checkpoint. */
async function largeCheckpoint(t: TestContext): Promise<string> {
  const directory = await checkpointDirectory(t)
  await saveBytes(join(directory, nameOf(STEP)), STEP, largeFiles())
  return directory
}

describe('an agent that is killed while it', () => {
  test('imports a checkpoint into a directory', async (t) => {
    const [root, other, log] = [await checkpointDirectory(t), await largeCheckpoint(t), await checkpointDirectory(t)]
    const expected = await digests(other, nameOf(STEP))
    const args = ['checkpoints-prepare', '--storage', root, '--resume-from', other, '--result', join(log, 'result')]
    for (let kill = 0; kill < KILLS; kill++) {
      await killed(() => spawnAgent(args))
      const names = (await readdir(root)).filter((name) => !name.startsWith('.'))
      for (const name of names) assert.deepEqual(await digests(root, name), expected)
    }
    await succeeds(spawnAgent(args))
    assert.deepEqual(await readdir(root), [nameOf(STEP)])
    assert.deepEqual(await digests(root, nameOf(STEP)), expected)
  })

  test('uploads to a bucket', async (t) => {
    const root = `s3://${BUCKET}/${randomUUID()}`
    const directory = await largeCheckpoint(t)
    await save(directory, 1)
    const expected = await digests(directory, nameOf(STEP))
    const start = (): AgentProcess =>
      spawnAgent(['checkpoints-upload', '--from', directory, '--to', root, '--keep-last', '1'], process.env)
    let newest = 0
    for (let kill = 0; kill < KILLS; kill++) {
      await killed(start)
      const [found = 0] = await steps(root)
      assert.ok(found >= newest, 'the newest one is never deleted')
      newest = found
      if (found === STEP) assert.deepEqual(await digests(root, nameOf(STEP)), expected)
    }
    const last = start()
    t.after(() => void last.child.kill('SIGKILL'))
    await until('the newest one is uploaded', async () => (await steps(root)).join() === String(STEP))
    assert.deepEqual(await digests(root, nameOf(STEP)), expected)
    // An agent that was killed may have uploaded the checkpoint. The last one has started when it uploads another.
    await save(directory, STEP + 1)
    await until('a later one is uploaded', async () => (await steps(root)).join() === String(STEP + 1))
    last.child.kill('SIGTERM')
    await succeeds(last)
  })

  test('downloads from a bucket', async (t) => {
    const root = `s3://${BUCKET}/${randomUUID()}`
    const [source, target, log] = [await largeCheckpoint(t), await checkpointDirectory(t), await checkpointDirectory(t)]
    const expected = await digests(source, nameOf(STEP))
    const result = ['--result', join(log, 'result')]
    const upload = ['checkpoints-prepare', '--storage', root, '--resume-from', source, ...result]
    await succeeds(spawnAgent(upload, process.env))
    const args = ['checkpoints-download', '--from', `${root}/${nameOf(STEP)}`, '--to', target, ...result]
    for (let kill = 0; kill < KILLS; kill++) {
      await killed(() => spawnAgent(args, process.env))
      const found = await digests(target, nameOf(STEP))
      if (found !== undefined) assert.deepEqual(found, expected)
    }
    await succeeds(spawnAgent(args, process.env))
    assert.deepEqual(await readdir(target), [nameOf(STEP)])
    assert.deepEqual(await digests(target, nameOf(STEP)), expected)
  })
})
