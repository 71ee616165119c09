import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import { type ControlPlane, startControlPlane } from '../../testenv/control-plane.ts'
import { until } from '../until.ts'

describe('a control plane that is broken on purpose', () => {
  let plane: ControlPlane

  before(async () => {
    plane = await startControlPlane({ onDeath: (error) => assert.fail(error) })
  })
  after(() => plane.stop())

  async function remember(name: string): Promise<void> {
    await plane.kubectl('create', 'configmap', name, `--from-literal=note=${name}`)
  }

  async function recalls(name: string): Promise<boolean> {
    return (await plane.kubectl('get', 'configmap', name, '-o=jsonpath={.data.note}')) === name
  }

  test('loses nothing when the API server is killed', async () => {
    await remember('before-apiserver')
    await plane.apiserver.kill()
    await assert.rejects(plane.kubectl('get', 'configmaps'))
    await plane.apiserver.start()
    assert.ok(await recalls('before-apiserver'))
    await remember('after-apiserver')
  })

  test('loses nothing when etcd is killed', async () => {
    await remember('before-etcd')
    await plane.etcd.kill()
    await plane.etcd.start()
    await plane.apiserver.ready()
    await until('the API server to find etcd again', () => recalls('before-etcd'))
    await until('a write to work again', () => remember('after-etcd').then(() => true))
  })

  test('goes on working: controllers still act after both were killed', async () => {
    await plane.apiserver.kill()
    await plane.etcd.kill()
    await plane.etcd.start()
    await plane.apiserver.start()
    await plane.kubectl('create', 'namespace', 'afterwards')
    await plane.kubectl('wait', '-n', 'afterwards', '--for=create', 'serviceaccount/default', '--timeout=60s')
    for (const name of ['before-apiserver', 'after-apiserver', 'before-etcd', 'after-etcd'])
      assert.ok(await recalls(name))
  })

  test('stands still while etcd is paused, and goes on when it is resumed', async () => {
    plane.etcd.pause()
    await assert.rejects(plane.kubectl('create', 'configmap', 'paused', '--request-timeout=1s'))
    plane.etcd.resume()
    await until('a write to work again', () => remember('resumed').then(() => true))
  })

  test('works, slowly, with a slow etcd', async () => {
    const restore = plane.etcd.slow({ pausedMs: 50, runningMs: 10 })
    await until('a slow write', () => remember('slow').then(() => true))
    await restore()
    assert.ok(await recalls('slow'))
  })

  test('controllers and scheduler can be stopped and started', async () => {
    await plane.controllerManager.stop()
    await plane.scheduler.stop()
    await plane.kubectl('create', 'namespace', 'unattended')
    await assert.rejects(plane.kubectl('get', '-n', 'unattended', 'serviceaccount', 'default'), /NotFound/)
    await Promise.all([plane.controllerManager.start(), plane.scheduler.start()])
    await plane.kubectl('wait', '-n', 'unattended', '--for=create', 'serviceaccount/default', '--timeout=60s')
  })
})
