/** The editor schemas accept what the API server accepts, and reject unknown fields, which the server would drop. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Compile } from 'typebox/schema'
import { editorSchemas } from '../../scripts/editor-schemas.ts'
import { kinds } from '../../src/api/kinds.ts'
import type { KubeObject } from '../../src/kube/object.ts'
import { manifestsIn } from '../cluster/api.ts'
import {
  completeAlphaTrainingJob,
  completeMlopsModelDeployment,
  completeModelDeployment,
  completeModelServer,
  completeTrainingJob,
  completeTrainingSchedule,
} from '../builders/manifests.ts'

const schemas = new Map(editorSchemas(kinds).map(({ name, schema }) => [name, Compile(schema as object)]))

function schemaFor({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }) {
  return schemas.get(`${kind.toLowerCase()}-${apiVersion.replace('/', '-')}`)
}

const complete = [
  completeTrainingJob,
  completeTrainingSchedule,
  completeAlphaTrainingJob,
  completeModelDeployment,
  completeModelServer,
  completeMlopsModelDeployment,
].map(({ manifest }) => manifest)

/** Kubernetes' own kinds, such as quotas, have schemas elsewhere. */
const isOurs = ({ apiVersion }: KubeObject): boolean => /^(ml\.example\.com|mlops\.sathvik\.dev)\//.test(apiVersion)

test('accept complete manifests, examples and the acceptance manifests', async () => {
  const files = [...(await manifestsIn('test/acceptance')), ...(await manifestsIn('examples'))]
  const objects = [...complete, ...files.flatMap((file) => file.objects)].filter(isOurs)
  for (const object of objects) {
    const [fits, errors] = schemaFor(object)?.Errors(object) ?? [false, []]
    assert.ok(fits, `${object.kind} ${object.metadata.name}: ${JSON.stringify(errors)}`)
  }
})

test('reject unknown fields, except for hyperparameters', () => {
  for (const object of complete) {
    const odd = { ...object, spec: { ...object.spec, tyop: 1 } }
    assert.equal(schemaFor(object)?.Check(odd), false)
  }
  const free = { ...completeTrainingJob.manifest.spec, hyperparameters: { warmup: [1, 2] } }
  assert.equal(schemaFor(completeTrainingJob.manifest)?.Check({ ...completeTrainingJob.manifest, spec: free }), true)
})
