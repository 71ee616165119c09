import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'

import { createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import { isExpired } from '../../src/kube/errors.ts'
import { ConfigMap } from '../../src/kube/resources.ts'
import { startControlPlane } from '../../testenv/control-plane.ts'
import { faultProxy } from '../../testenv/fault-proxy.ts'
import { mirror } from '../client/mirror.ts'
import { until } from '../timing/until.ts'

const plane = await startControlPlane()
const config = await configFromKubeconfig(plane.kubeconfig)
const direct = createClient(config)
after(async () => {
  await direct.close()
  await plane.stop()
})

async function write(name: string): Promise<void> {
  const metadata = { namespace: 'default', name }
  await direct.apply(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { at: `${Math.random()}` } })
}

const serverAnswers = (): Promise<unknown> =>
  until('the server to answer', async () => {
    await direct.list(ConfigMap, { namespace: 'default', timeoutMs: 1_000 })
    return true
  })

describe('a watch equals a fresh list after', () => {
  test('etcd was restarted', async (t) => {
    await write('before-etcd')
    const held = mirror(t, direct, ConfigMap, { namespace: 'default' })
    await held.equals(direct)
    await plane.etcd.restart()
    await serverAnswers()
    await until('a write to work', () => write('after-etcd').then(() => true))
    await held.equals(direct)
  })

  test('the API server was killed', async (t) => {
    const held = mirror(t, direct, ConfigMap, { namespace: 'default' })
    await held.equals(direct)
    await plane.apiserver.kill()
    await until('the loss to be noticed', () => held.faults.length > 0)
    await plane.apiserver.start()
    await write('after-kill')
    await held.equals(direct)
  })

  test('its resourceVersion was compacted', async (t) => {
    const proxy = await faultProxy(plane.server)
    const distant = createClient({ ...config, server: proxy.server })
    t.after(async () => {
      await distant.close()
      await proxy.close()
    })
    await write('deleted')
    const held = mirror(t, distant, ConfigMap, { namespace: 'default' })
    await held.equals(direct)
    proxy.cut()
    await direct.delete(ConfigMap, { namespace: 'default', name: 'deleted' })
    await write('created-meanwhile')
    const { resourceVersion } = await direct.list(ConfigMap, { namespace: 'default' })
    await plane.etcdctl('compact', resourceVersion)
    await plane.apiserver.kill()
    await plane.apiserver.start()
    proxy.restore()
    await until('the watch to expire', () => held.faults.some(isExpired))
    await held.equals(direct)
    assert.equal(held.replacements, 2)
  })

  test('the API server was paused', async (t) => {
    const held = mirror(t, direct, ConfigMap, { namespace: 'default', inactivityMs: 1_500 })
    await held.equals(direct)
    plane.apiserver.pause()
    await until('the inactivity to be noticed', () => held.faults.length > 0)
    plane.apiserver.resume()
    await serverAnswers()
    await write('after-pause')
    await held.equals(direct)
  })
})
