import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { addEchoController, COPY_TO } from '../../examples/runtime/echo-controller.ts'
import { createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import { isNotFound } from '../../src/kube/errors.ts'
import { ConfigMap } from '../../src/kube/resources.ts'
import { createLogger, Manager } from '../../src/runtime/index.ts'
import { Audit } from '../audit.ts'
import { namespace, sharedCluster } from '../cluster.ts'
import { until } from '../until.ts'

const { client, kubeconfig } = await sharedCluster()

async function running(t: TestContext) {
  const ns = await namespace(t)
  const config = await configFromKubeconfig(kubeconfig)
  const audit = new Audit()
  const manager = new Manager({
    name: 'echo-test',
    connect: (interceptors) => createClient(config, { interceptors: [...interceptors, audit.interceptor] }),
    log: createLogger({ level: 'silent' }),
    server: { port: 0, host: '127.0.0.1' },
  })
  manager.caches.of(ConfigMap, { namespace: ns })
  addEchoController(manager)
  const stop = new AbortController()
  const ended = manager.run(stop.signal)
  t.after(async () => {
    stop.abort()
    await ended
  })
  const at = (name: string) => ({ namespace: ns, name })
  const write = (name: string, data: Record<string, string>, copyTo?: string) =>
    client.apply(ConfigMap, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { ...at(name), ...(copyTo !== undefined && { annotations: { [COPY_TO]: copyTo } }) },
      data,
    })
  const dataOf = async (name: string) => (await client.get(ConfigMap, at(name))).data
  const says = (name: string, text: string) =>
    until(`${name} to say ${text}`, async () => (await dataOf(name))?.['text'] === text)
  const isGone = (name: string) =>
    until(`${name} to be gone`, () => client.get(ConfigMap, at(name)).then(() => false, isNotFound))
  return { audit, at, write, says, isGone, manager }
}

describe('the echo controller', () => {
  test('copies, follows, repairs and removes', async (t) => {
    const { at, write, says, isGone } = await running(t)
    await write('original', { text: 'one' }, 'copy')
    await says('copy', 'one')
    await write('original', { text: 'two' }, 'copy')
    await says('copy', 'two')
    await client.patch(ConfigMap, at('copy'), { data: { text: 'tampered' } })
    await says('copy', 'two')
    await client.delete(ConfigMap, at('copy'))
    await says('copy', 'two')
    await write('original', { text: 'two' }, 'elsewhere')
    await says('elsewhere', 'two')
    await isGone('copy')
    await client.delete(ConfigMap, at('original'))
    await isGone('elsewhere')
  })

  test('at rest it writes nothing, and each change costs one write', async (t) => {
    const { audit, write, says } = await running(t)
    for (let number = 0; number < 20; number++) await write(`original-${number}`, { text: 'one' }, `copy-${number}`)
    for (let number = 0; number < 20; number++) await says(`copy-${number}`, 'one')
    assert.equal((await audit.take()).length, 20)
    await write('original-7', { text: 'two' }, 'copy-7')
    await says('copy-7', 'two')
    assert.deepEqual(await audit.take(), ['apply configmaps/copy-7 200'])
  })

  test('a taken name is left alone', async (t) => {
    const { audit, write, says } = await running(t)
    await write('theirs', { text: 'theirs' })
    await write('original', { text: 'ours' }, 'theirs')
    await write('other', { text: 'fine' }, 'copy')
    await says('copy', 'fine')
    await says('theirs', 'theirs')
    assert.deepEqual(await audit.take(), ['apply configmaps/copy 201'])
  })
})
