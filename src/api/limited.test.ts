import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crdName, type Kind } from './kind.ts'
import { kinds } from './kinds.ts'
import { limited, limitedFields, limitedVerdict } from './limited.ts'
import { type JsonSchema, plain } from './structural.ts'

const object = (kind: string, spec: unknown, group = 'ml.example.com') => ({
  apiVersion: `${group}/v1`,
  kind,
  metadata: { name: 'a', generation: 3 },
  spec,
})

test('lists only limited fields that are set', () => {
  const server = object('ModelServer', { image: 'i', port: 80, unknown: true })
  assert.deepEqual(limitedFields(server, ['image', 'port', 'args']), ['spec.image', 'spec.port'])
  const job = object('TrainingJob', { model: 'm', checkpoint: { enabled: true, storage: {} } })
  assert.deepEqual(limitedFields(job), [])
  assert.deepEqual(limitedFields(job, ['checkpoint.storage', 'elastic']), ['spec.checkpoint.storage'])
})

test('looks into lists and ignores flags that are false', () => {
  const model = object('ModelDeployment', { versions: [{ name: 'v1', weight: 100 }, { name: 'v2' }] })
  assert.deepEqual(limitedFields(model, ['versions[].weight', 'versions[].modelPath']), ['spec.versions[].weight'])
  const switched = object('ModelDeployment', { autoscale: false }, 'mlops.sathvik.dev')
  assert.deepEqual(limitedFields(switched, ['autoscale']), [])
})

test('the condition names the fields and is omitted without such fields', () => {
  const verdict = limitedVerdict(object('ModelServer', { image: 'i' }), ['image'])
  assert.equal(verdict?.message, 'Fields without effect in this release: spec.image')
  assert.equal(verdict?.observedGeneration, 3)
  assert.equal(limitedVerdict(object('ModelServer', { image: 'i' })), undefined)
})

test('every limited path exists in the schema', () => {
  for (const kind of kinds) {
    for (const path of limited[`${kind.group}/${kind.kind}`] ?? []) {
      assert.ok(schemaAt(storedSpec(kind), path.split('.')), `${crdName(kind)}: spec.${path}`)
    }
  }
})

function storedSpec(kind: Kind): JsonSchema {
  const stored = kind.versions.find((version) => version.storage)
  assert.ok(stored)
  return plain(stored.spec)
}

function schemaAt(schema: JsonSchema | undefined, [step, ...rest]: readonly string[]): JsonSchema | undefined {
  if (step === undefined || schema === undefined) return schema
  const child = schema.properties?.[step.replace('[]', '')]
  return schemaAt(step.endsWith('[]') ? child?.items : child, rest)
}
