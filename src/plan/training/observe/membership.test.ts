import assert from 'node:assert/strict'
import { test } from 'node:test'
import { trainingJob } from '../../../../test/sim/training-cluster.ts'
import type { OwnerReference } from '../../../kube/object.ts'
import type { Job, Pod } from '../../../kube/resources.ts'
import { JOB_UID_LABEL } from '../names.ts'
import { membershipOf } from './membership.ts'

const job = trainingJob({ engine: 'job' })
const workload: Job = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'bert-job', namespace: 'team-a', uid: 'uid-of-workload' },
}
const byJob = reference({})
const byWorkload = reference({ apiVersion: 'batch/v1', kind: 'Job', name: 'bert-job', uid: 'uid-of-workload' })
const byGoneWorkload = { ...byWorkload, uid: 'uid-of-last-workload' }

function reference(more: Partial<OwnerReference>): OwnerReference {
  const { apiVersion, kind, metadata } = job
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '', controller: true, ...more }
}

interface Written {
  readonly owner?: OwnerReference
  readonly namespace?: string
  readonly uid?: string
  readonly phase?: string
  readonly nodeName?: string
  readonly finalizers?: string[]
}

function pod({ owner, namespace = 'team-a', uid = job.metadata.uid ?? '', ...more }: Written): Pod {
  const { phase = 'Running', nodeName = 'node', finalizers = [] } = more
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'pod',
      namespace,
      finalizers,
      labels: { [JOB_UID_LABEL]: uid, trainingjob: 'bert' },
      ...(owner && { ownerReferences: [owner] }),
    },
    spec: { containers: [], nodeName },
    status: { phase },
  }
}

const cases: readonly [string, Written, 'member' | 'orphan' | 'foreign'][] = [
  ['controlled by the job', { owner: byJob }, 'member'],
  ["controlled by the job's Indexed Job", { owner: byWorkload }, 'member'],
  ['another namespace', { owner: byJob, namespace: 'team-b' }, 'foreign'],
  ['another namespace, Indexed Job', { owner: byWorkload, namespace: 'team-b' }, 'foreign'],
  ['no controller', {}, 'foreign'],
  ['owned but not controlled', { owner: { ...byJob, controller: false } }, 'foreign'],
  ['controlled by another uid of the same name', { owner: reference({ uid: 'other' }) }, 'foreign'],
  ['controlled by another Job', { owner: { ...byWorkload, name: 'other', uid: 'other' } }, 'foreign'],
  ['the label of another job', { owner: byJob, uid: 'other' }, 'foreign'],
  ['its Indexed Job is gone', { owner: byGoneWorkload }, 'orphan'],
  ['its Indexed Job is gone, ended', { owner: byGoneWorkload, phase: 'Failed' }, 'orphan'],
  ['a running orphan with a finalizer', { owner: byGoneWorkload, finalizers: ['x/y'] }, 'orphan'],
  [
    'an ended orphan kept by a foreign finalizer',
    { owner: byGoneWorkload, phase: 'Failed', finalizers: ['x/y'] },
    'foreign',
  ],
]

for (const [name, written, expected] of cases) {
  test(`${name}: ${expected}`, () => {
    const { pods, orphans } = membershipOf(job, workload, [pod(written)])
    assert.deepEqual([pods.length, orphans.length], [Number(expected === 'member'), Number(expected === 'orphan')])
  })
}

test('only engine job has orphans', () => {
  const { orphans } = membershipOf(trainingJob(), undefined, [pod({ owner: byGoneWorkload })])
  assert.deepEqual(orphans, [])
})
