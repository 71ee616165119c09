/** Watches and followed logs. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { describe, test } from 'node:test'
import { key, type Respond, scriptedServer } from '../../test/fakes/scripted-server.ts'
import { ConnectionError } from './errors.ts'

describe('streams', () => {
  test('yield lines as they arrive and end with the server', async (t) => {
    const { client } = await scriptedServer(t, [(response) => response.writeHead(200).end('one\ntwo\nthree')])
    const seen: string[] = []
    for await (const line of client.streamLogs(key, { follow: true })) seen.push(line)
    assert.deepEqual(seen, ['one', 'two', 'three'])
  })

  test('fail if the connection breaks', async (t) => {
    const { client } = await scriptedServer(t, [
      (response) => {
        response.writeHead(200).write('one\n')
        setImmediate(() => response.socket?.resetAndDestroy())
      },
    ])
    const seen: string[] = []
    await assert.rejects(async () => {
      for await (const line of client.streamLogs(key)) seen.push(line)
    }, ConnectionError)
  })

  test('close their connection when the reader stops', async (t) => {
    const { client, sockets } = await scriptedServer(t, [(response) => response.writeHead(200).write('one\n')])
    let closed: Promise<unknown> | undefined
    for await (const line of client.streamLogs(key)) {
      assert.equal(line, 'one')
      closed = once([...sockets][0] as Socket, 'close')
      break
    }
    await closed
  })

  test('apply backpressure to the server', async (t) => {
    let written = 0
    const flood: Respond = (response) => {
      response.writeHead(200)
      const chunk = `${'x'.repeat(65_535)}\n`
      const more = () => {
        while (written < 1_000) {
          written += 1
          if (!response.write(chunk)) {
            response.once('drain', more)
            return
          }
        }
        response.end()
      }
      more()
    }
    const { client } = await scriptedServer(t, [flood])
    let lines = 0
    for await (const line of client.streamLogs(key)) {
      lines += line === '' ? 0 : 1
      if (lines === 1) {
        for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate)
        assert.ok(written < 900, `${written} chunks written while the reader slept`)
      }
    }
    assert.equal(lines, 1_000)
  })
})
