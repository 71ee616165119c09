import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { listen } from '../../net/listening.ts'
import { TransientError } from '../transfer/error.ts'
import { httpClient } from './http-client.ts'

/** A proxy in front of one server, and the targets that clients asked it for. */
async function proxied(t: TestContext) {
  const server = createServer((_, response) => response.end('content'))
  const port = await listen(server, { port: 0, host: '127.0.0.1' })
  const targets: string[] = []
  const proxy = createServer().on('connect', (request, socket) => {
    targets.push(request.url ?? '')
    const upstream = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      upstream.pipe(socket).on('error', () => upstream.destroy())
      socket.pipe(upstream).on('error', () => socket.destroy())
    })
  })
  const proxyPort = await listen(proxy, { port: 0, host: '127.0.0.1' })
  t.after(() => [server, proxy].forEach((one) => (one.close(), one.closeAllConnections())))
  return { port, targets, uri: `http://127.0.0.1:${proxyPort}` }
}

const read = async (url: string, env: NodeJS.ProcessEnv): Promise<string> => {
  const { body } = await httpClient(env)(new URL(url), {}, AbortSignal.timeout(60_000))
  return text(body)
}

test('uses the proxy of the environment', async (t) => {
  const { targets, uri } = await proxied(t)
  assert.equal(await read('http://models.invalid/m', { HTTP_PROXY: uri }), 'content')
  assert.deepEqual(targets, ['models.invalid:80'])
})

test('connects directly to hosts in NO_PROXY and to loopback addresses', async (t) => {
  const { port, targets, uri } = await proxied(t)
  assert.equal(await read(`http://127.0.0.1:${port}/m`, { HTTP_PROXY: uri }), 'content')
  const direct = read('http://models.invalid/m', { HTTP_PROXY: uri, NO_PROXY: '.invalid' })
  await assert.rejects(direct, TransientError)
  assert.deepEqual(targets, [])
})
