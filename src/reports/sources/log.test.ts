/** Following logs: how many, how often, what ends it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ProgressTarget } from '../../api/training-report.ts'
import { createLogger } from '../../runtime/index.ts'
import { FakeClock } from '../../runtime/fake-clock.ts'
import { LogReader, type LogRequest, type LogSourceOptions } from './log.ts'

const target = (name: string): ProgressTarget => ({ pod: { namespace: 'a', name, uid: name, container: 'c' } })
const log = createLogger({ level: 'silent' })

/** Logs that stay open and say nothing. */
function setUp(options: Partial<LogSourceOptions> = {}) {
  const clock = new FakeClock()
  const opened: { readonly pod: string; readonly request: LogRequest }[] = []
  async function* open(pod: ProgressTarget['pod'], request: LogRequest) {
    opened.push({ pod: pod.name, request })
    await new Promise<void>((resolve) => {
      request.signal.addEventListener('abort', () => resolve(), { once: true })
    })
    yield* [] as Uint8Array[]
  }
  const reader = new LogReader({ open, clock, log, maxLogs: 2, random: () => 0, ...options })
  const stop = new AbortController()
  const emit = { report: () => undefined, problem: () => undefined }
  const names = () => opened.map(({ pod }) => pod)
  const advance = async (ms: number): Promise<void> => {
    clock.advance(ms)
    for (let turn = 0; turn < 10; turn += 1) await nextTurn()
  }
  return { opened, names, advance, stop, read: (name: string) => reader.read(target(name), emit, stop.signal), reader }
}

test('a log is read only after the delay, with limits', async () => {
  const { opened, names, advance, read, stop } = setUp()
  const done = read('one')
  await advance(19_000)
  assert.deepEqual(names(), [])
  await advance(2_000)
  assert.deepEqual(names(), ['one'])
  const { signal: _signal, ...request } = opened[0]?.request ?? {}
  assert.deepEqual(request, { container: 'c', follow: true, tailLines: 100, limitBytes: 256 * 1024 })
  await advance(600_000)
  assert.deepEqual(names(), ['one'])
  stop.abort()
  await done
})

test('where more jobs run than logs may be followed, each gets its turn', async () => {
  const { names, advance, read, stop } = setUp({ delayMs: 0 })
  const all = ['one', 'two', 'three', 'four', 'five'].map(read)
  await advance(1)
  assert.deepEqual(names(), ['one', 'two'])
  for (let round = 0; round < 20; round += 1) await advance(5_000)
  assert.deepEqual(new Set(names()), new Set(['one', 'two', 'three', 'four', 'five']))
  stop.abort()
  await Promise.all(all)
})

test('a log that cannot be read is tried again, ever less often', async () => {
  let tries = 0
  const open = (): AsyncIterable<Uint8Array> => {
    tries += 1
    throw new Error('no kubelet')
  }
  const { advance, read, stop } = setUp({ open, delayMs: 0 })
  const done = read('one')
  for (let second = 0; second < 600; second += 1) await advance(1_000)
  assert.ok(tries > 5 && tries < 20, `${tries} tries`)
  stop.abort()
  await done
})

test('with a limit of 0 no log is read', () => {
  assert.equal(setUp({ maxLogs: 0 }).reader.canRead(), false)
})
