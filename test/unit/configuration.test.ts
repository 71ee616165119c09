import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { operatorConfig } from '../../src/operator-config.ts'
import { defaultServingConfig } from '../../src/plan/serving/index.ts'
import { defaultTrainingConfig } from '../../src/plan/training/index.ts'

test('the documented configuration equals the defaults', async () => {
  const page = await readFile(join(import.meta.dirname, '..', '..', 'docs', 'configuration.md'), 'utf8')
  const [, file = ''] = /```yaml config\n([^`]*)```/.exec(page) ?? []
  const defaults = { training: defaultTrainingConfig, serving: defaultServingConfig }
  assert.deepEqual(parse(file), defaults)
  assert.deepEqual(operatorConfig(parse(file)), defaults)
})
