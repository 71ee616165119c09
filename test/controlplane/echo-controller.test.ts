import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { addEchoController, COPY_TO } from '../../examples/runtime/echo-controller.ts'
import { createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import { isNotFound } from '../../src/kube/errors.ts'
import { ConfigMap } from '../../src/kube/resources.ts'
import { createLogger, Manager } from '../../src/runtime/index.ts'
import { Audit } from '../client/audit.ts'
import { namespace, sharedCluster } from '../cluster/shared-cluster.ts'
import { until } from '../timing/until.ts'

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
  const becomes = (name: string, text: string) =>
    until(`${name} to be ${text}`, async () => (await dataOf(name))?.['text'] === text)
  const disappears = (name: string) =>
    until(`${name} to be gone`, () => client.get(ConfigMap, at(name)).then(() => false, isNotFound))
  return { audit, at, write, becomes, disappears, manager }
}

describe('the echo controller', () => {
  test('copies, follows, repairs and removes', async (t) => {
    const { at, write, becomes, disappears } = await running(t)
    await write('original', { text: 'one' }, 'copy')
    await becomes('copy', 'one')
    await write('original', { text: 'two' }, 'copy')
    await becomes('copy', 'two')
    await client.patch(ConfigMap, at('copy'), { data: { text: 'tampered' } })
    await becomes('copy', 'two')
    await client.delete(ConfigMap, at('copy'))
    await becomes('copy', 'two')
    await write('original', { text: 'two' }, 'elsewhere')
    await becomes('elsewhere', 'two')
    await disappears('copy')
    await client.delete(ConfigMap, at('original'))
    await disappears('elsewhere')
  })

  test('writes nothing once converged, and once per change', async (t) => {
    const { audit, write, becomes } = await running(t)
    for (let number = 0; number < 20; number++) await write(`original-${number}`, { text: 'one' }, `copy-${number}`)
    for (let number = 0; number < 20; number++) await becomes(`copy-${number}`, 'one')
    assert.equal((await audit.take()).length, 20)
    await write('original-7', { text: 'two' }, 'copy-7')
    await becomes('copy-7', 'two')
    assert.deepEqual(await audit.take(), ['apply configmaps/copy-7 200'])
  })

  test('does not change an object of another owner', async (t) => {
    const { audit, write, becomes } = await running(t)
    await write('theirs', { text: 'theirs' })
    await write('original', { text: 'ours' }, 'theirs')
    await write('other', { text: 'fine' }, 'copy')
    await becomes('copy', 'fine')
    await becomes('theirs', 'theirs')
    assert.deepEqual(await audit.take(), ['apply configmaps/copy 201'])
  })
})
