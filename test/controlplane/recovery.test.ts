import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import { type ControlPlane, startControlPlane } from '../../testenv/control-plane.ts'
import { until } from '../timing/until.ts'

describe('a control plane under faults', () => {
  let plane: ControlPlane

  before(async () => {
    plane = await startControlPlane({ onExit: (error) => assert.fail(error) })
  })
  after(() => plane.stop())

  async function write(name: string): Promise<void> {
    await plane.kubectl('create', 'configmap', name, `--from-literal=note=${name}`)
  }

  async function isStored(name: string): Promise<boolean> {
    return (await plane.kubectl('get', 'configmap', name, '-o=jsonpath={.data.note}')) === name
  }

  test('loses nothing when the API server is killed', async () => {
    await write('before-apiserver')
    await plane.apiserver.kill()
    await assert.rejects(plane.kubectl('get', 'configmaps'))
    await plane.apiserver.start()
    assert.ok(await isStored('before-apiserver'))
    await write('after-apiserver')
  })

  test('loses nothing when etcd is killed', async () => {
    await write('before-etcd')
    await plane.etcd.kill()
    await plane.etcd.start()
    await plane.apiserver.ready()
    await until('the API server to find etcd again', () => isStored('before-etcd'))
    await until('a write to work again', () => write('after-etcd').then(() => true))
  })

  test('still runs controllers after both were killed', async () => {
    await plane.apiserver.kill()
    await plane.etcd.kill()
    await plane.etcd.start()
    await plane.apiserver.start()
    await plane.kubectl('create', 'namespace', 'afterwards')
    await plane.kubectl('wait', '-n', 'afterwards', '--for=create', 'serviceaccount/default', '--timeout=60s')
    for (const name of ['before-apiserver', 'after-apiserver', 'before-etcd', 'after-etcd'])
      assert.ok(await isStored(name))
  })

  test('hangs while etcd is paused, and continues when it is resumed', async () => {
    plane.etcd.pause()
    await assert.rejects(plane.kubectl('create', 'configmap', 'paused', '--request-timeout=1s'))
    plane.etcd.resume()
    await until('a write to work again', () => write('resumed').then(() => true))
  })

  test('works, slowly, with a slow etcd', async () => {
    const restore = plane.etcd.slow({ pausedMs: 50, runningMs: 10 })
    await until('a slow write', () => write('slow').then(() => true))
    await restore()
    assert.ok(await isStored('slow'))
  })

  test('can stop and start controllers and scheduler', async () => {
    await plane.controllerManager.stop()
    await plane.scheduler.stop()
    await plane.kubectl('create', 'namespace', 'unattended')
    await assert.rejects(plane.kubectl('get', '-n', 'unattended', 'serviceaccount', 'default'), /NotFound/)
    await Promise.all([plane.controllerManager.start(), plane.scheduler.start()])
    await plane.kubectl('wait', '-n', 'unattended', '--for=create', 'serviceaccount/default', '--timeout=60s')
  })
})
