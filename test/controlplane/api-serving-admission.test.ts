/** Admission of what runs a model: runtime, image and framework, and what pods get beside them. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { namespace } from '../cluster/shared-cluster.ts'
import { type Complete, completeModelDeployment } from '../builders/manifests.ts'
import { assertRejected, clientWithApi, placed, rejectionBy, type Spec } from '../fixtures/admission.ts'

const client = await clientWithApi()

const alone = { runtime: undefined, image: undefined }

/** The change, and words of the rejection: the field and the fix. */
const rejected: readonly [Complete, Spec, ...string[]][] = [
  [
    completeModelDeployment,
    { ...alone, framework: 'caffe' },
    'spec.framework',
    'spec.runtime or spec.image is required',
  ],
  [
    completeModelDeployment,
    { ...alone, framework: 'pytorch' },
    'spec.framework',
    'set spec.runtime to fastapi-pytorch',
  ],
]

test('rejects what cannot run, by name and with advice', async (t) => {
  const into = await namespace(t)
  for (const [{ resource, manifest }, change, ...words] of rejected) {
    const spec = JSON.parse(JSON.stringify({ ...manifest.spec, ...change }))
    await assertRejected(JSON.stringify(change), rejectionBy(client, resource, placed(manifest, into, spec)), ...words)
  }
  t.diagnostic(`${rejected.length} invalid manifests rejected`)
})

const accepted: readonly [Complete, Spec][] = [
  [completeModelDeployment, { ...alone, framework: 'onnx' }],
  [completeModelDeployment, { framework: 'pytorch', runtime: undefined }],
  [completeModelDeployment, { framework: 'pytorch', image: undefined }],
  [completeModelDeployment, { framework: 'caffe', runtime: undefined }],
  [completeModelDeployment, { framework: 'llama', runtime: 'vllm', image: undefined }],
]

test('accepts every combination that can run', async (t) => {
  const into = await namespace(t)
  for (const [{ resource, manifest }, change] of accepted) {
    const spec = JSON.parse(JSON.stringify({ ...manifest.spec, ...change }))
    assert.equal(await rejectionBy(client, resource, placed(manifest, into, spec)), undefined, JSON.stringify(change))
  }
})
