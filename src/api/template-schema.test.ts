import assert from 'node:assert/strict'
import { test } from 'node:test'
import { structural } from './structural.ts'
import { trainingJobV1 } from './trainingjob.v1.ts'
import { trainingScheduleV1 } from './trainingschedule.v1.ts'

const job = structural(trainingJobV1.spec)
const template = structural(trainingScheduleV1.spec).properties?.['jobTemplate']?.properties?.['spec']

test('a template has every field of the spec', () => {
  assert.deepEqual(Object.keys(template?.properties ?? {}), Object.keys(job.properties ?? {}))
  assert.deepEqual(template?.required, job.required)
})

test('a template keeps the rules about values, and can change at any time', () => {
  const rules = job['x-kubernetes-validations'] ?? []
  const valid = rules.filter(({ rule }) => !rule.includes('oldSelf'))
  assert.ok(valid.length < rules.length)
  assert.deepEqual(template?.['x-kubernetes-validations'], valid)
  assert.doesNotMatch(JSON.stringify(template), /oldSelf|Immutable/)
})

test('the schema of the TrainingJob itself is unchanged', () => {
  assert.match(JSON.stringify(job), /self == oldSelf/)
})
