import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generatedFiles, staleFiles } from '../../scripts/generate.ts'

test('the committed CRDs, roles, reference and editor schemas are up to date', async () => {
  assert.deepEqual(await staleFiles(generatedFiles()), [], 'run `make generate`')
})

test('reports changed, missing and extra files as stale', async () => {
  const files = new Map(generatedFiles())
  files.set('config/crd/modelservers.ml.example.com.yaml', 'else')
  files.set('config/crd/missing.yaml', '')
  files.delete('config/crd/trainingjobs.ml.example.com.yaml')
  assert.deepEqual(await staleFiles(files), [
    'config/crd/missing.yaml',
    'config/crd/modelservers.ml.example.com.yaml',
    'config/crd/trainingjobs.ml.example.com.yaml',
  ])
})
