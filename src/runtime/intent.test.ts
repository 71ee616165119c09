import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { digest, drift, INTENT_ANNOTATION, marked } from './intent.ts'

const cases: { name: string; intent: unknown; live: unknown; drift: string[] }[] = [
  { name: 'the same', intent: { a: 1 }, live: { a: 1 }, drift: [] },
  { name: 'defaults that the server added', intent: { a: 1 }, live: { a: 1, b: 2 }, drift: [] },
  {
    name: 'members that a trim left undefined',
    intent: { status: { currentReplicas: undefined } },
    live: { status: { currentReplicas: 2 } },
    drift: [],
  },
  { name: 'a changed field', intent: { spec: { a: 1 } }, live: { spec: { a: 2 } }, drift: ['spec.a=2'] },
  { name: 'a removed field', intent: { spec: { a: 1 } }, live: { spec: {} }, drift: ['spec.a=absent'] },
  {
    name: 'an item changed, found by name in another place',
    intent: { env: [{ name: 'b', value: '1' }] },
    live: { env: [{ name: 'a' }, { name: 'b', value: '2' }] },
    drift: ['env[0].value="2"'],
  },
  {
    name: 'items that others added',
    intent: { volumes: [{ name: 'mine' }] },
    live: { volumes: [{ name: 'token' }, { name: 'mine', emptyDir: {} }] },
    drift: [],
  },
  {
    name: 'items without a name, with defaults and company',
    intent: { tolerations: [{ key: 'gpu' }] },
    live: { tolerations: [{ key: 'not-ready' }, { key: 'gpu', operator: 'Exists' }] },
    drift: [],
  },
  { name: 'a missing nameless item', intent: { x: [{ key: 'gpu' }] }, live: { x: [] }, drift: ['x[0]=absent'] },
  {
    name: 'a list of words with one more',
    intent: { args: ['a'] },
    live: { args: ['a', 'b'] },
    drift: ['args=["a","b"]'],
  },
  {
    name: 'a removed false that the server would store',
    intent: {
      enableServiceLinks: false,
      containers: [{ name: 'a', securityContext: { allowPrivilegeEscalation: false } }],
    },
    live: { containers: [{ name: 'a', securityContext: {} }] },
    drift: ['enableServiceLinks=absent', 'containers[0].securityContext.allowPrivilegeEscalation=absent'],
  },
  { name: 'empty and absent', intent: { a: '', b: [], c: {}, d: false, e: null }, live: {}, drift: [] },
  {
    name: 'a flag switched on',
    intent: { hostNetwork: false },
    live: { hostNetwork: true },
    drift: ['hostNetwork=true'],
  },
  {
    name: 'an amount in other units',
    intent: { resources: { limits: { cpu: '1000m', memory: '1024Mi' } } },
    live: { resources: { limits: { cpu: '1', memory: '1Gi' } } },
    drift: [],
  },
  {
    name: 'another amount',
    intent: { resources: { limits: { cpu: '1' } } },
    live: { resources: { limits: { cpu: '2' } } },
    drift: ['resources.limits.cpu="2"'],
  },
  {
    name: 'a variable that only looks like an amount',
    intent: { env: [{ name: 'a', value: '1' }] },
    live: { env: [{ name: 'a', value: '1.0' }] },
    drift: ['env[0].value="1.0"'],
  },
  {
    name: 'a label that only looks like an amount',
    intent: { l: { v: '1' } },
    live: { l: { v: '1.0' } },
    drift: ['l.v="1.0"'],
  },
]

for (const { name, intent, live, drift: expected } of cases) {
  test(`drift: ${name}`, () => assert.deepEqual(drift(intent, live), expected))
}

test('property: nothing has drifted from itself, and equal content has an equal digest', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      assert.deepEqual(drift(value, structuredClone(value)), [])
      assert.equal(digest(value), digest(structuredClone(value)))
    }),
  )
})

test('a dropped field changes the digest, because no comparison could find it', () => {
  const base = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } }
  const before = marked({ ...base, data: { a: '1', b: '2' } })
  const now = marked({ ...base, data: { a: '1' } })
  assert.equal(drift(now, before).length, 1)
  assert.match(drift(now, before)[0] ?? '', new RegExp(INTENT_ANNOTATION))
})
