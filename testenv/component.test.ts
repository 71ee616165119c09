import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'

import { Component } from './component.ts'
import { createRunDirectory, processesOf, tearDown } from './run-directory.ts'

function shell(
  t: TestContext,
  script: string,
  onExit: (error: Error) => void = () => {},
): Component & { ready(): Promise<void> } {
  const directory = createRunDirectory()
  t.after(() => tearDown(directory))
  const ready = join(directory, 'ready')
  return new Component(
    directory,
    { name: 'shell', command: ['sh', '-c', script], ready: async () => existsSync(ready) },
    onExit,
  )
}

test('reports an unexpected exit with the tail of the log', async (t) => {
  const exited = Promise.withResolvers<Error>()
  const component = shell(t, 'touch ready; echo what went wrong; exit 3', exited.resolve)
  component.spawn()
  const { message } = await exited.promise
  assert.match(message, /shell exited unexpectedly \(exit 3\)/)
  assert.match(message, /what went wrong/)
})

test('fails to start with the log when it never becomes ready', async (t) => {
  const component = shell(t, 'echo no such flag; exit 1')
  await assert.rejects(component.start(), /shell ended before it was ready:\nno such flag/)
})

test('does not report a stop, kill or restart', async (t) => {
  const component = shell(t, 'touch ready; exec sleep 1000', (error) => assert.fail(error))
  await component.start()
  const first = component.pid
  await component.restart()
  assert.notEqual(component.pid, first)
  await component.kill()
  assert.throws(() => component.pid, /shell is not running/)
})

test('tearing down ends grandchildren too, and removes the directory', async (t) => {
  const directory = createRunDirectory()
  t.after(() => tearDown(directory))
  const script = '(sleep 1000 & sleep 1000) & touch ready; exec sleep 1000'
  const ready = (): Promise<boolean> => Promise.resolve(existsSync(join(directory, 'ready')))
  await new Component(directory, { name: 'family', command: ['sh', '-c', script], ready }, () => {}).start()
  assert.ok(processesOf(directory).length >= 1)
  await tearDown(directory)
  assert.deepEqual(processesOf(directory), [])
  assert.equal(existsSync(directory), false)
})
