import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TrainingCluster } from '../../../../test/sim/training-cluster.ts'
import { jobScheduling } from './scheduling.ts'

const settings = {
  spotLabels: { a: 'spot', b: 'yes' },
  spotTolerations: [{ key: 'a', operator: 'Exists', effect: 'NoSchedule' }],
} as const
const only = (key: string, value: string) => ({ key, operator: 'In', values: [value] })
const not = (key: string, value: string) => ({ key, operator: 'NotIn', values: [value] })
const zone = only('zone', 'x')
const zoned = (...terms: readonly object[]) => ({
  nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } },
})
const tolerations = [{ key: 'a', operator: 'Exists', effect: 'NoSchedule' }]
const rack = { key: 'rack', operator: 'Exists' }

const cases: Readonly<Record<string, readonly [object, object]>> = {
  'nothing by default': [{}, {}],
  'prefer: a preference and the tolerations': [
    { spot: 'prefer' },
    {
      tolerations,
      affinity: {
        nodeAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 100, preference: { matchExpressions: [only('a', 'spot')] } },
            { weight: 100, preference: { matchExpressions: [only('b', 'yes')] } },
          ],
        },
      },
    },
  ],
  'require: one of the labels, with the tolerations before those of the job': [
    { spot: 'require', tolerations: [rack] },
    {
      tolerations: [...tolerations, rack],
      affinity: zoned({ matchExpressions: [only('a', 'spot')] }, { matchExpressions: [only('b', 'yes')] }),
    },
  ],
  'require, in addition to every term of the job': [
    { spot: 'require', affinity: zoned({ matchExpressions: [zone] }) },
    {
      tolerations,
      affinity: zoned({ matchExpressions: [zone, only('a', 'spot')] }, { matchExpressions: [zone, only('b', 'yes')] }),
    },
  ],
  'never: none of the labels, and no tolerations': [
    { spot: 'never' },
    { affinity: zoned({ matchExpressions: [not('a', 'spot'), not('b', 'yes')] }) },
  ],
  'never, in addition to every term of the job; an empty one matches no node': [
    { spot: 'never', affinity: zoned({ matchExpressions: [zone] }, { matchExpressions: [] }) },
    {
      affinity: zoned({ matchExpressions: [zone, not('a', 'spot'), not('b', 'yes')] }, { matchExpressions: [] }),
    },
  ],
}

for (const [what, [scheduling, expected]] of Object.entries(cases))
  test(`scheduling.spot: ${what}`, () => {
    const { observed } = new TrainingCluster({ scheduling })
    assert.deepEqual(jobScheduling(observed.job, 0, { ...observed.config, ...settings }), expected)
  })

test('pods that share a node for their volume keep their affinity', () => {
  const checkpoint = { storage: { accessModes: ['ReadWriteOnce'] } }
  const { observed } = new TrainingCluster({ numWorkers: 2, checkpoint, scheduling: { spot: 'require' } })
  const { affinity } = jobScheduling(observed.job, 0, observed.config) as { readonly affinity: object }
  assert.deepEqual(Object.keys(affinity).toSorted(), ['nodeAffinity', 'podAffinity'])
})
