import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLogger, reconcileLogger } from './log.ts'

function captured(level: 'info' | 'debug') {
  const lines: Record<string, unknown>[] = []
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) }
  return { lines, log: createLogger({ level, destination }) }
}

test('a line is JSON with level, time and the fields of its reconcile', () => {
  const { lines, log } = captured('info')
  const fields = { controller: 'jobs', kind: 'Job', namespace: 'a', name: 'x', reconcileId: '1' }
  reconcileLogger(log, fields).info({ pods: 3 }, 'done')
  assert.equal(lines.length, 1)
  const { time, ...rest } = lines[0] ?? {}
  assert.deepEqual(rest, { level: 'info', ...fields, pods: 3, msg: 'done' })
  assert.match(String(time), /^\d{4}-\d\d-\d\dT/)
})

test('the level decides what is written, and errors keep their stack', () => {
  const { lines, log } = captured('info')
  log.debug('not this')
  log.error({ err: new Error('boom') }, 'this')
  assert.equal(lines.length, 1)
  assert.match(JSON.stringify(lines[0]), /boom.*log\.test\.ts/)
})
