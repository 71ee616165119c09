/** The commands for checkpoints as processes, with a bucket of a real server. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'

import { storeOf } from '../../src/agent/checkpoints/store-of.ts'
import { listCheckpoints } from '../../src/agent/checkpoints/inspection.ts'
import { parseCheckpointsResult } from '../../src/api/checkpoint-result.ts'
import { type AgentProcess, spawnAgent } from '../fixtures/agent.ts'
import {
  checkpoint,
  checkpointDirectory,
  checkpointFiles,
  filesIn,
  nameOf,
  save,
  timeOf,
} from '../fixtures/checkpoints.ts'
import { until } from '../timing/until.ts'

export interface BucketServer {
  /** Of the bucket, such as `s3://bucket`. */
  readonly uri: string
  readonly env: NodeJS.ProcessEnv
}

const signal = new AbortController().signal

async function stepsIn(uri: string, env: NodeJS.ProcessEnv): Promise<readonly number[]> {
  return (await listCheckpoints(await storeOf(uri, env), signal)).complete.map(({ step }) => step)
}

async function succeeds(agent: AgentProcess): Promise<void> {
  assert.equal(await agent.ended, 0, agent.lines.join('\n'))
}

export function checkpointCommandsContract(name: string, server: () => BucketServer): void {
  describe(`the commands for checkpoints with ${name}`, () => {
    test('upload, prepare, download and delete', async (t) => {
      const { uri, env } = server()
      const root = `${uri}/runs/${randomUUID()}`
      const directory = await checkpointDirectory(t)
      for (const step of [1, 2, 3]) await save(directory, step)
      const sidecar = spawnAgent(['checkpoints-upload', '--from', directory, '--to', root, '--keep-last', '2'], env)
      t.after(() => void sidecar.child.kill('SIGKILL'))
      await until('the two newest are uploaded', async () => (await stepsIn(root, env)).join() === '3,2')
      await until('the directory is pruned', async () => (await readdir(directory)).length === 2)
      await save(directory, 4)
      sidecar.child.kill('SIGTERM')
      await succeeds(sidecar)
      assert.deepEqual(await stepsIn(root, env), [4, 3])

      const result = join(await checkpointDirectory(t), 'result')
      const args = ['checkpoints-prepare', '--storage', root, '--keep-last', '1', '--result', result]
      await succeeds(spawnAgent(args, env))
      const latest = { name: nameOf(4), step: 4, time: timeOf(4) }
      assert.deepEqual(parseCheckpointsResult(await readFile(result, 'utf8')), {
        latest,
        count: 1,
        pruned: 1,
        imported: false,
      })

      const workers = await checkpointDirectory(t)
      await succeeds(spawnAgent(['checkpoints-download', '--from', `${root}/${nameOf(4)}`, '--to', workers], env))
      assert.deepEqual(await filesIn(join(workers, nameOf(4))), { ...checkpointFiles(4) })

      await succeeds(spawnAgent(['checkpoints-delete', '--storage', root, '--result', result], env))
      assert.deepEqual(await stepsIn(root, env), [])
    })

    test('imports a checkpoint from one root into another', async (t) => {
      const { uri, env } = server()
      const [root, other] = [`${uri}/runs/${randomUUID()}`, `${uri}/runs/${randomUUID()}`]
      const directory = await checkpointDirectory(t)
      await save(directory, 7)
      const result = join(await checkpointDirectory(t), 'result')
      for (const [storage, from] of [
        [other, directory],
        [root, `${other}/${nameOf(7)}`],
      ] as const) {
        await succeeds(
          spawnAgent(['checkpoints-prepare', '--storage', storage, '--resume-from', from, '--result', result], env),
        )
        assert.equal(JSON.parse(await readFile(result, 'utf8')).imported, true)
      }
      const { complete } = await listCheckpoints(await storeOf(root, env), signal)
      assert.deepEqual(complete, [checkpoint(7)])
    })

    test('reports a bucket that does not exist', async (t) => {
      const { uri, env } = server()
      const result = join(await checkpointDirectory(t), 'result')
      const storage = `${uri.replace(/\/\/.*/, '//absent-bucket')}/x`
      const agent = spawnAgent(['checkpoints-prepare', '--storage', storage, '--result', result], env)
      assert.equal(await agent.ended, 1, agent.lines.join('\n'))
      assert.match(JSON.parse(await readFile(result, 'utf8')).error, /check the bucket/)
    })
  })
}
