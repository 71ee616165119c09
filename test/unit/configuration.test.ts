import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { operatorConfig } from '../../src/operator-config.ts'
import { defaultTrainingConfig } from '../../src/plan/training/config.ts'

test('the documented file is the default configuration, setting by setting', async () => {
  const page = await readFile(join(import.meta.dirname, '..', '..', 'docs', 'configuration.md'), 'utf8')
  const [, file = ''] = /```yaml\n([^`]*)```/.exec(page) ?? []
  assert.deepEqual(parse(file), { training: defaultTrainingConfig })
  assert.deepEqual(operatorConfig(parse(file)), { training: defaultTrainingConfig })
})
