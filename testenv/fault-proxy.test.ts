import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'

import { type FaultProxy, faultProxy } from './fault-proxy.ts'
import { portOf } from './ports.ts'

/** A proxy for an echo server. */
async function echoProxy(t: TestContext): Promise<FaultProxy> {
  const echo = createServer((socket) => void socket.on('error', () => {}).pipe(socket))
  await once(echo.listen(0, '127.0.0.1'), 'listening')
  const proxy = await faultProxy(`http://127.0.0.1:${portOf(echo)}`)
  t.after(async () => {
    await proxy.close()
    echo.close()
  })
  return proxy
}

function dial(t: TestContext, proxy: FaultProxy): Socket {
  const socket = connect(Number(new URL(proxy.server).port), '127.0.0.1')
  socket.on('error', () => {})
  t.after(() => socket.destroy())
  return socket
}

async function ask(socket: Socket, text: string): Promise<string> {
  socket.write(text)
  const [answer] = (await once(socket, 'data')) as [Buffer]
  return answer.toString()
}

async function closed(socket: Socket): Promise<void> {
  await new Promise<void>((resolve) => void socket.once('close', () => resolve()))
}

test('passes bytes in both directions', async (t) => {
  const proxy = await echoProxy(t)
  assert.equal(await ask(dial(t, proxy), 'hello'), 'hello')
})

test('cut resets open connections and rejects new ones', async (t) => {
  const proxy = await echoProxy(t)
  const open = dial(t, proxy)
  await ask(open, 'hello')
  proxy.cut()
  await closed(open)
  await closed(dial(t, proxy))
  proxy.restore()
  assert.equal(await ask(dial(t, proxy), 'again'), 'again')
})

test('a frozen connection stays open and silent, a later one works', async (t) => {
  const proxy = await echoProxy(t)
  const frozen = dial(t, proxy)
  await ask(frozen, 'hello')
  proxy.freeze()
  proxy.restore()
  frozen.once('data', () => assert.fail('data on a frozen connection'))
  frozen.write('anyone?')
  assert.equal(await ask(dial(t, proxy), 'again'), 'again')
  assert.equal(frozen.readyState, 'open')
})

test('delayed bytes keep their order', async (t) => {
  const proxy = await echoProxy(t)
  const socket = dial(t, proxy)
  proxy.delay(5)
  socket.write('a')
  socket.write('b')
  let seen = ''
  while (seen.length < 2) seen += String(((await once(socket, 'data')) as [Buffer])[0])
  assert.equal(seen, 'ab')
})
