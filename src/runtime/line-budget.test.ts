import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from './fake-clock.ts'
import { LineBudget } from './line-budget.ts'

const x = { namespace: 'a', name: 'x' }
const y = { namespace: 'a', name: 'y' }

test('an object in a storm logs a burst and then one line per second, each with the number of lines before it', () => {
  const clock = new FakeClock()
  let dropped = 0
  const lines = new LineBudget({ clock, onDropped: () => (dropped += 1), linesPerObject: 3 })
  const taken = Array.from({ length: 100 }, () => lines.take('jobs', x)).filter(Boolean)
  assert.deepEqual(taken, [{}, {}, {}])
  assert.equal(dropped, 97)
  assert.deepEqual(lines.take('jobs', y), {}, 'another object is not affected')
  assert.deepEqual(lines.take('models', x), {}, 'nor is another controller')
  clock.advance(1_000)
  assert.deepEqual(lines.take('jobs', x), { dropped: 97 })
  clock.advance(5_000)
  assert.deepEqual(lines.take('jobs', x), {})
})

test('a storm of many objects logs a bounded number of lines in a second', () => {
  const clock = new FakeClock()
  const lines = new LineBudget({ clock, linesPerSecond: 50 })
  const storm = (): number =>
    Array.from({ length: 20_000 }, (_, name) => lines.take('jobs', { name: String(name) })).filter(Boolean).length
  assert.equal(storm(), 50)
  clock.advance(1_000)
  assert.equal(storm(), 50)
})
