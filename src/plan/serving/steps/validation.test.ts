/** A version starts, or changes, only after its validation has passed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { viewOfModel } from '../../../../test/sim/model-view.ts'
import { ServingCluster } from '../../../../test/sim/serving-cluster.ts'
import { calm } from '../../../../test/sim/serving-history.ts'
import type { Job } from '../../../kube/resources.ts'
import { planServing } from '../plan.ts'
import { isHeld, validate } from './validation.ts'

const start = (spec: object = {}): ServingCluster => new ServingCluster(planServing, () => undefined, { spec })

function settled(spec: object = {}): ServingCluster {
  const cluster = start(spec)
  assert.ok(calm(cluster, 40))
  return cluster
}

test('a version starts only after its validation, which a failure blocks', () => {
  const cluster = start({ validation: { script: 'validate.py', timeoutSeconds: 60 } })
  cluster.pass()
  assert.equal(cluster.deployments.length, 0)
  const [job] = cluster.of<Job>('Job')
  assert.match(job?.metadata.name ?? '', /^iris-v1-validate-[0-9a-f]{8}$/)
  cluster.judge('Failed')
  cluster.pass()
  assert.equal(cluster.deployments.length, 0)
  assert.equal(cluster.model.status?.phase, 'Failed')
  assert.equal(cluster.model.status?.activeVersions?.[0]?.reason, 'ValidationFailed')
  cluster.edit({ image: 'iris:2' })
  assert.ok(calm(cluster, 40))
  assert.equal(cluster.model.status?.phase, 'Running')
  assert.deepEqual(cluster.of('Job').length, 1, 'the result for the previous image is deleted')
  const events = ['ValidationStarted', 'ValidationFailed', 'ValidationStarted', 'ValidationSucceeded']
  assert.deepEqual(cluster.events.slice(0, 4), events)
})

test('a version that runs is not touched while its change is being validated', () => {
  const cluster = settled()
  cluster.edit({ image: 'iris:2', validation: { script: 'validate.py', timeoutSeconds: 60 } })
  cluster.pass()
  const image = () => cluster.servers.get('v1')?.spec?.template.spec?.containers[0]?.image
  assert.equal(image(), 'iris:1')
  assert.equal(cluster.model.status?.phase, 'Running')
  cluster.judge('Complete')
  cluster.pass()
  assert.equal(image(), 'iris:2')
})

const spec = { validation: { script: 'validate.py', timeoutSeconds: 60 } }
const versions = { v1: { weight: 100 } }

/** The model with its validation Job in a state. */
function validated(conditions: readonly object[] | undefined, recorded: object = {}) {
  const { jobName } = validate(viewOfModel({ versions, spec })).get('v1') ?? {}
  const view = viewOfModel({ versions: { v1: { weight: 100, recorded } }, spec })
  const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: jobName ?? '' }, status: { conditions } } as Job
  return { ...view, observed: { ...view.observed, jobs: conditions ? [job] : [] } }
}

const digest = validate(viewOfModel({ versions, spec })).get('v1')?.digest ?? ''
const done = (type: string) => [{ type, status: 'True' }]

const outcomes: readonly (readonly [
  string,
  ReturnType<typeof validated>,
  { outcome: string; isHeld: boolean; creates: boolean },
])[] = [
  ['without a Job, one is created', validated(undefined), { outcome: 'running', isHeld: true, creates: true }],
  ['a Job that runs', validated([]), { outcome: 'running', isHeld: true, creates: false }],
  ['a Job that completed', validated(done('Complete')), { outcome: 'passed', isHeld: false, creates: false }],
  ['a Job that failed', validated(done('Failed')), { outcome: 'failed', isHeld: true, creates: false }],
  [
    'a pass on record needs no Job',
    validated(undefined, { validated: digest }),
    { outcome: 'passed', isHeld: false, creates: false },
  ],
  [
    'a pass of something else does not count',
    validated(undefined, { validated: 'other' }),
    { outcome: 'running', isHeld: true, creates: true },
  ],
]

for (const [what, view, expected] of outcomes)
  test(`validation: ${what}: ${expected.outcome}`, () => {
    const validations = validate(view)
    const found = validations.get('v1')
    const [version] = view.versions
    assert.ok(found && version)
    const creates = found.job !== undefined
    assert.deepEqual({ outcome: found.outcome, isHeld: isHeld(validations, version), creates }, expected)
  })

test('validation: a model without a script holds nothing', () => {
  const view = viewOfModel({ versions })
  assert.equal(validate(view).size, 0)
  assert.ok(view.versions.every((version) => !isHeld(new Map(), version)))
})
