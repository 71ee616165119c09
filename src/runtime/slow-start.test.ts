import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { slowStart } from './slow-start.ts'

test('batches double, and the results keep their order', async () => {
  let running = 0
  const widths: number[] = []
  const results = await slowStart(
    Array.from({ length: 100 }, (_, number) => number),
    async (number) => {
      running += 1
      await Promise.resolve()
      widths.push(running)
      await Promise.resolve()
      running -= 1
      return number * 2
    },
  )
  assert.deepEqual(results.slice(0, 3), [0, 2, 4])
  assert.equal(results.length, 100)
  assert.equal(widths[0], 1)
  assert.equal(Math.max(...widths), 32)
})

test('a failure ends the run after its own batch', async () => {
  const tried: number[] = []
  const items = [0, 1, 2, 3, 4, 5, 6, 7]
  const work = async (number: number) => {
    if (number === 1) throw new Error('refused')
    await turn()
    tried.push(number)
  }
  await assert.rejects(slowStart(items, work), /refused/)
  assert.deepEqual(tried, [0, 2])
})
