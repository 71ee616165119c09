import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { allOf, isOrAre, portion, quantify } from './counted.ts'

test('one is singular, everything else plural', () => {
  assert.deepEqual(
    [0, 1, 2].map((count) => `${quantify(count, 'worker')} ${isOrAre(count)}`),
    ['0 workers are', '1 worker is', '2 workers are'],
  )
  assert.deepEqual([portion(0, 1, 'pod'), portion(1, 2, 'pod')], ['0 of 1 pod', '1 of 2 pods'])
  assert.deepEqual([allOf(1, 'worker'), allOf(2, 'worker')], ['1 worker', 'all 2 workers'])
})

/** A count of these is written by `quantify`, so that no message says `1 pods`. */
const FIXED_PLURAL = /\}\s(workers|pods|nodes|versions|claims|jobs|models|replicas|attempts|failures|restarts|GPUs)\b/

test('no message of a planner has a count with a fixed plural', () => {
  const folder = import.meta.dirname
  const files = globSync('**/*.ts', { cwd: folder }).filter((name) => !name.endsWith('.test.ts'))
  assert.ok(files.length > 100)
  const lines = files.flatMap((name) =>
    readFileSync(join(folder, name), 'utf8')
      .split('\n')
      .map((line) => `${name}: ${line.trim()}`),
  )
  assert.deepEqual(
    lines.filter((line) => FIXED_PLURAL.test(line) && !line.includes('purpose:')),
    [],
  )
  assert.ok(FIXED_PLURAL.test('`${count} pods are ready`'))
})
