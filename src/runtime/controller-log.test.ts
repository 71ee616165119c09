/** What the controller logs about its reconciles. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { key, settle, setUp } from '../../test/fixtures/controller.ts'
import { RuntimeError } from './errors.ts'
import { createLogger } from './log.ts'

function captured() {
  const lines: Record<string, unknown>[] = []
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) }
  return { lines, log: createLogger({ destination }) }
}

test('a failed reconcile is one line with the object, its kind and the id of the reconcile', async () => {
  const { lines, log } = captured()
  const ids: string[] = []
  const fails = async (_: unknown, { reconcileId }: { readonly reconcileId: string }) => {
    ids.push(reconcileId)
    throw new RuntimeError('Permanent', 'never')
  }
  const { controller, queue } = setUp(fails, { log })
  queue.add(key('x'))
  controller.start()
  await settle()
  await controller.stop(0)
  const [{ time: _, err: __, ...line } = {}, ...others] = lines
  assert.deepEqual(others, [])
  const object = { controller: 'test', kind: 'ConfigMap', namespace: 'a', name: 'x', reconcileId: ids[0] }
  assert.deepEqual(line, {
    level: 'error',
    ...object,
    code: 'Permanent',
    class: 'permanent',
    msg: 'reconcile failed',
  })
})

test('a reconcile that logs without end is limited, and its next line has the number of lines that were left out', async () => {
  const { lines, log } = captured()
  const { controller, queue, clock } = setUp(
    async (_, { note }) => {
      for (let line = 0; line < 1_000; line++) note('info', {}, 'decided')
    },
    { log },
  )
  queue.add(key('x'))
  controller.start()
  await settle()
  assert.equal(lines.length, 10)
  clock.advance(1_000)
  queue.add(key('x'))
  await settle()
  await controller.stop(0)
  assert.equal(lines.length, 11)
  assert.equal(lines[10]?.['dropped'], 990)
})
