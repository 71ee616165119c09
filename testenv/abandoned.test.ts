import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { test } from 'node:test'

import { until } from '../test/timing/until.ts'
import { abandonedRuns } from './abandoned.ts'
import { startReaper } from './reaper.ts'
import { register, unregister } from './registry.ts'
import { createRunDirectory } from './run-directory.ts'

const later = (): number => Date.now() + 120_000

test('a run without a reaper is abandoned, one that starts or is registered is not', (t) => {
  const run = createRunDirectory()
  t.after(() => rmSync(run, { recursive: true, force: true }))
  assert.ok(!abandonedRuns().includes(run), 'it may still start')
  assert.ok(abandonedRuns(later()).includes(run))
  register(run)
  assert.ok(!abandonedRuns(later()).includes(run))
  unregister(run)
})

test('a run with a reaper is not abandoned', async (t) => {
  const run = createRunDirectory()
  t.after(() => rmSync(run, { recursive: true, force: true }))
  startReaper(run)
  await until('the reaper to run', () => !abandonedRuns(later()).includes(run))
})
