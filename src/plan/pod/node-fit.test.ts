import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fitsNode } from './node-fit.ts'

const spot = { key: 'spot', value: 'yes', effect: 'NoSchedule' }
const node = { name: 'node-1', labels: { pool: 'gpu', size: '8' }, taints: [] }
const affinity = (...nodeSelectorTerms: object[]) => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
})
const pool = (operator: string, ...values: string[]) => ({ matchExpressions: [{ key: 'pool', operator, values }] })
const size = (operator: string, value: string) => ({ matchExpressions: [{ key: 'size', operator, values: [value] }] })
const named = (name: string) => ({ matchFields: [{ key: 'metadata.name', operator: 'In', values: [name] }] })

const table: readonly [string, object, boolean, object?][] = [
  ['no requirements', {}, true],
  ['a label', { nodeSelector: { pool: 'gpu' } }, true],
  ['a label with another value', { nodeSelector: { pool: 'cpu' } }, false],
  ['a taint', {}, false, { taints: [spot] }],
  ['a tolerated taint', { tolerations: [{ key: 'spot', operator: 'Exists' }] }, true, { taints: [spot] }],
  ['a taint with another value', { tolerations: [{ key: 'spot', value: 'no' }] }, false, { taints: [spot] }],
  ['all taints tolerated', { tolerations: [{ operator: 'Exists' }] }, true, { taints: [spot] }],
  ['In', affinity(pool('In', 'cpu', 'gpu')), true],
  ['not In', affinity(pool('In', 'cpu')), false],
  ['NotIn', affinity(pool('NotIn', 'cpu')), true],
  ['Exists', affinity(pool('Exists')), true],
  ['DoesNotExist', affinity(pool('DoesNotExist')), false],
  ['Gt', affinity(size('Gt', '4')), true],
  ['Lt', affinity(size('Lt', '4')), false],
  ['one of several terms', affinity(pool('In', 'cpu'), pool('In', 'gpu')), true],
  ['the name of the node', affinity(named('node-1')), true],
  ['the name of another node', affinity(named('node-2')), false],
  ['a term without requirements', affinity({}), false],
]

for (const [name, spec, expected, more = {}] of table)
  test(`${name}: ${expected ? 'fits' : 'does not fit'}`, () =>
    assert.equal(fitsNode({ containers: [], ...spec }, { ...node, ...more }), expected))
