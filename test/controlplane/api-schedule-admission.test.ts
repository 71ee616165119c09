/** Admission of TrainingSchedules by the CRD alone: their own rules, and those of a TrainingJob in the template. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withDefaults } from '../../src/api/defaults.ts'
import { completeTrainingSchedule } from '../builders/manifests.ts'
import { namespace } from '../cluster/shared-cluster.ts'
import { assertRejected, clientWithApi, placed, rejectionBy, type Spec } from '../fixtures/admission.ts'

const client = await clientWithApi()
const { resource, manifest, version } = completeTrainingSchedule
const template = manifest.spec['jobTemplate'] as { readonly metadata: object; readonly spec: Spec }
const job = (spec: Spec): Spec => ({ jobTemplate: { ...template, spec: { ...template.spec, ...spec } } })

const invalid: readonly [Spec, ...string[]][] = [
  [{ schedule: 'TZ=Europe/Berlin 0 3 * * *' }, 'spec.schedule', 'set timeZone'],
  [{ schedule: 'CRON_TZ=UTC @daily' }, 'spec.schedule', 'set timeZone'],
  [{ schedule: '0 3 * *' }, 'spec.schedule', 'five fields', '0 3 * * *'],
  [{ schedule: '0 0 3 * * *' }, 'spec.schedule', 'five fields'],
  [{ schedule: '60 3 * * *' }, 'spec.schedule', 'five fields'],
  [{ schedule: '@every 1h' }, 'spec.schedule', '@hourly'],
  [{ timeZone: '+01:00' }, 'spec.timeZone'],
  [{ concurrencyPolicy: 'Queue' }, 'spec.concurrencyPolicy'],
  [{ startingDeadlineSeconds: 0 }, 'spec.startingDeadlineSeconds'],
  [job({ numWorkers: 9 }), 'spec.jobTemplate.spec.numWorkers', 'elastic.maxWorkers'],
  [job({ model: undefined, command: undefined }), 'spec.jobTemplate.spec.model', 'model and dataset'],
  [job({ framework: 'pytorch' }), 'spec.jobTemplate.spec.roles', 'need framework tensorflow'],
]

test('rejects invalid schedules and templates with the field and the fix', async (t) => {
  const into = await namespace(t)
  for (const [spec, ...words] of invalid) {
    const rejected = rejectionBy(client, resource, placed(manifest, into, { ...manifest.spec, ...spec }))
    await assertRejected(JSON.stringify(spec).slice(0, 100), rejected, ...words)
  }
})

test('accepts what a CronJob accepts', async (t) => {
  const into = await namespace(t)
  for (const schedule of ['@daily', '*/15 0-6,12 1,15 * 1-5', '0 9 ? JAN mon-FRI', '5/15 * * * *']) {
    const rejected = await rejectionBy(client, resource, placed(manifest, into, { ...manifest.spec, schedule }))
    assert.equal(rejected?.message, undefined)
  }
})

test('rejects a name that leaves no room for that of a run', async (t) => {
  const into = await namespace(t)
  const named = (length: number) => rejectionBy(client, resource, placed(manifest, into, undefined, 'x'.repeat(length)))
  assert.equal((await named(41))?.message, undefined)
  await assertRejected('42 characters', named(42), 'metadata.name')
})

test('every field of a template can change', async (t) => {
  const into = await namespace(t)
  await client.create(resource, placed(manifest, into))
  const spec = { model: 'other', dataset: null, framework: 'jax', roles: null, gpusPerWorker: 4, numWorkers: 5 }
  const key = { namespace: into, name: 'complete' }
  const changed = await client.patch(resource, key, { spec: { jobTemplate: { spec } } })
  const { jobTemplate } = changed.spec as { jobTemplate: { spec: Spec } }
  assert.deepEqual([jobTemplate.spec['model'], jobTemplate.spec['gpusPerWorker']], ['other', 4])
})

test('the server sets the same defaults as withDefaults', async (t) => {
  const into = await namespace(t)
  const spec = { schedule: '@daily', jobTemplate: { spec: { model: 'm', dataset: 'd' } } }
  const created = await client.create(resource, placed(manifest, into, spec))
  assert.deepEqual(created.spec, withDefaults(version.spec, spec))
})
