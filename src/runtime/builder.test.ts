import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configMap, key, settle, setUp } from '../../test/fixtures/controller.ts'
import { keyString } from '../kube/object.ts'
import { ConfigMap } from '../kube/resources.ts'
import { ControllerBuilder, type Mapping } from './builder.ts'
import { RuntimeError } from './errors.ts'

function build(mapping: Mapping<ConfigMap>) {
  const setup = setUp(async () => undefined)
  const caches = { of: () => setup.cache } as never
  const builder = new ControllerBuilder({ ...setup.deps, caches }, () => undefined)
  return { ...setup, builder, mapping }
}

test('a mapping that throws for one object does not affect the others', async () => {
  const { builder, mapping, queue, metrics, feed } = build(({ metadata }) => {
    if (metadata.name === 'poison') throw new Error('boom')
    return [key(`for-${metadata.name}`)]
  })
  builder.watches(ConfigMap, mapping)
  await feed({ type: 'replace', items: [configMap('poison'), configMap('x')], resourceVersion: '5' })
  assert.equal(keyString((await queue.take())!.key), 'a/for-x')
  assert.match(await metrics.registry.metrics(), /mapping_errors_total\{controller="test",kind="ConfigMap"\} 1/)
})

test('a change of the owner queues the old and the new one; a filter ignores other changes', async () => {
  const owned = (version: number, owner: string): ConfigMap => {
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: owner, uid: owner, controller: true }
    return {
      ...configMap('child', version),
      metadata: { ...configMap('child', version).metadata, ownerReferences: [reference] },
    }
  }
  const { builder, queue, feed } = build(() => [])
  builder.for(ConfigMap, { when: () => false }).owns(ConfigMap, { when: ({ type }) => type === 'update' })
  await feed({ type: 'replace', items: [owned(1, 'old')], resourceVersion: '1' })
  assert.equal(queue.depth, 0)
  await feed({ type: 'apply', object: owned(2, 'new') })
  const keys = [await queue.take(), await queue.take()].map((item) => item!.key.name)
  assert.deepEqual(keys.toSorted(), ['new', 'old'])
})

/** A primary whose failed reconciles each write a different status, which its cache then shows. */
function failing(error: (attempt: number) => Error) {
  let runs = 0
  const setup = setUp(async () => {
    runs += 1
    const written = { ...configMap('x', runs + 1), status: `failed for the ${runs}th time` }
    await setup.feed({ type: 'apply', object: written })
    throw error(runs)
  })
  const caches = { of: () => setup.cache } as never
  new ControllerBuilder({ ...setup.deps, caches }, () => undefined).for(ConfigMap)
  return { ...setup, runs: () => runs }
}

for (const [what, error, most] of [
  ['a transient failure', () => new Error('boom'), 9],
  ['a rejected write', () => new RuntimeError('QuotaExceeded', 'used up'), 9],
  ['an invalid write', () => new RuntimeError('ApiInvalid', 'no'), 9],
  ['a failure that says when', () => new RuntimeError('External', 'later', { retryAfterMs: 5_000 }), 4],
] as const)
  test(`the status written by a failed reconcile does not wake its key: ${what}`, async () => {
    const { controller, clock, runs, feed } = failing(error)
    await feed({ type: 'replace', items: [configMap('x')], resourceVersion: '1' })
    controller.start()
    for (let ms = 0; ms < 15_000; ms += 50) {
      await settle()
      clock.advance(50)
    }
    await settle()
    assert.ok(runs() > 1 && runs() <= most, `${runs()} tries in 15 s`)
    const tries = runs()
    const edited = { ...configMap('x', 1_000), data: { a: 'edited' } }
    await feed({ type: 'apply', object: edited })
    await settle()
    assert.equal(runs(), tries + 1, 'an edit is tried at once')
    await controller.stop(0)
  })

test('a signal queues its key, but does not end the backoff of a failed one', () => {
  const { builder, queue } = build(() => [])
  let wake: (one: ReturnType<typeof key>) => void = () => undefined
  builder.signals((queueKey) => (wake = queueKey))
  wake(key('x'))
  assert.equal(queue.depth, 1)
  queue.hold(key('y'))
  wake(key('y'))
  assert.equal(queue.depth, 1)
})
