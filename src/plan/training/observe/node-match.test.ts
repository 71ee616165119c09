/** Why no node matches the pods of a job. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TrainingCluster } from '../../../../test/sim/training-cluster.ts'
import { describeMismatch } from './node-match.ts'
import type { NodePlacement, NodeTaint } from '../../pod/node-fit.ts'

const node = (labels: Record<string, string>, ...taints: NodeTaint[]): NodePlacement => ({ labels, taints })
const spot: NodeTaint = { key: 'spot', value: 'yes', effect: 'NoSchedule' }
const gpu: NodeTaint = { key: 'nvidia.com/gpu', effect: 'NoSchedule' }

const poolA = { nodeSelector: { pool: 'a' } }
const table: readonly [string, object, readonly NodePlacement[], string][] = [
  [
    'a label',
    poolA,
    [node({ accelerator: 'nvidia-gpu', pool: 'b' }), node({})],
    'no node has the label pool=a (scheduling.nodeSelector)',
  ],
  [
    'labels of the administrator',
    poolA,
    [node({ pool: 'a' })],
    'no node has the label accelerator=nvidia-gpu (gpuNodeSelector of the operator)',
  ],
  [
    'labels on different nodes',
    poolA,
    [node({ pool: 'a' }), node({ accelerator: 'nvidia-gpu' })],
    'no node has all of the labels accelerator=nvidia-gpu (gpuNodeSelector of the operator), pool=a (scheduling.nodeSelector)',
  ],
  [
    'a taint, only of nodes that match',
    {},
    [node({ accelerator: 'nvidia-gpu' }, spot, gpu), node({ accelerator: 'nvidia-gpu' }, spot), node({}, spot)],
    'scheduling.tolerations does not tolerate the taint spot=yes:NoSchedule on 2 nodes',
  ],
  [
    'another value of a taint',
    { tolerations: [{ key: 'spot', operator: 'Equal', value: 'no' }] },
    [node({ accelerator: 'nvidia-gpu' }, spot)],
    'scheduling.tolerations does not tolerate the taint spot=yes:NoSchedule on 1 node',
  ],
  [
    'a missing spot node',
    { spot: 'require' },
    [node({ accelerator: 'nvidia-gpu' })],
    'scheduling.spot is require, and no suitable node has one of the labels a=spot (spotLabels of the operator)',
  ],
  [
    'spot nodes that the job does not want',
    { spot: 'never' },
    [node({ accelerator: 'nvidia-gpu', a: 'spot' })],
    'scheduling.spot is never, and all suitable nodes have one of the labels a=spot (spotLabels of the operator)',
  ],
  [
    'nothing about a spot node that is there',
    { spot: 'require' },
    [node({ accelerator: 'nvidia-gpu', a: 'spot' })],
    '',
  ],
  [
    'neither: the taint is tolerated',
    { tolerations: [{ operator: 'Exists' }] },
    [node({ accelerator: 'nvidia-gpu' }, spot)],
    '',
  ],
]

for (const [name, scheduling, placements, expected] of table)
  test(`names ${name}`, () => {
    const { observed } = new TrainingCluster({ gpusPerWorker: 1, scheduling })
    const config = { ...observed.config, gpuNodeSelector: { accelerator: 'nvidia-gpu' }, spotLabels: { a: 'spot' } }
    const member = { role: 'worker', index: 0, attempt: 1, podName: 'bert-workers-0', phase: 'Pending' } as const
    assert.equal(describeMismatch({ ...observed, config, placements }, [member]), expected)
  })

test('names a label of the pod template, and knows its tolerations', () => {
  const podTemplate = { spec: { nodeSelector: { disk: 'fast' }, tolerations: [{ operator: 'Exists' }] } }
  const { observed } = new TrainingCluster({ gpusPerWorker: 0, podTemplate })
  const member = { role: 'worker', index: 0, attempt: 1, podName: 'bert-workers-0', phase: 'Pending' } as const
  const mismatch = (...placements: NodePlacement[]) => describeMismatch({ ...observed, placements }, [member])
  assert.equal(mismatch(node({})), 'no node has the label disk=fast (nodeSelector of podTemplate)')
  assert.equal(mismatch(node({ disk: 'fast' }, spot)), '')
})
