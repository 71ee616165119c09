import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../kube/object.ts'
import { additions, type Exclusive, REPAIR_MANAGER, withForeignFields } from './foreign-fields.ts'
import { INTENT_ANNOTATION } from './intent.ts'

interface Case {
  readonly name: string
  readonly intent: object
  readonly live: object
  /** What `kubectl` owns of it. */
  readonly fields: object
  readonly exclusive?: Exclusive
  readonly found: readonly string[]
  /** What is left of it after the removal; as it was by default. */
  readonly left?: object
}

const cases: readonly Case[] = [
  {
    name: 'finds a key added to an atomic map, which an apply replaces',
    intent: { spec: { selector: { a: '1' } } },
    live: { spec: { selector: { a: '1', app: 'zzz' } } },
    fields: { 'f:spec': { 'f:selector': {} } },
    found: ['spec.selector={"a":"1","app":"zzz"}'],
  },
  {
    name: 'removes a key added to a granular map',
    intent: { data: { a: '1' } },
    live: { data: { a: '1', b: '2' } },
    fields: { 'f:data': { 'f:b': {} } },
    found: ['data.b="2"'],
    left: { data: { a: '1' } },
  },
  {
    name: 'removes metadata added to a template, except for labels and annotations',
    intent: { spec: { template: { metadata: { labels: { a: '1' } } } } },
    live: { spec: { template: { metadata: { labels: { a: '1', b: '2' }, annotations: { c: '3' }, name: 'other' } } } },
    fields: {
      'f:spec': {
        'f:template': { 'f:metadata': { 'f:labels': { 'f:b': {} }, 'f:annotations': { 'f:c': {} }, 'f:name': {} } },
      },
    },
    found: ['spec.template.metadata.name="other"'],
    left: { spec: { template: { metadata: { labels: { a: '1', b: '2' }, annotations: { c: '3' } } } } },
  },
  {
    name: 'removes a field that the intent never mentions',
    intent: { spec: { replicas: 1 } },
    live: { spec: { replicas: 1, paused: true, progressDeadlineSeconds: 600 } },
    fields: { 'f:spec': { 'f:paused': {} } },
    found: ['spec.paused=true'],
    left: { spec: { replicas: 1, progressDeadlineSeconds: 600 } },
  },
  {
    name: 'removes an added item and keeps the defaults of the others',
    intent: { spec: { containers: [{ name: 'server', env: [{ name: 'A', value: '1' }] }] } },
    live: {
      spec: {
        containers: [
          { name: 'server', imagePullPolicy: 'Always', env: [{ name: 'A', value: '1' }, { name: 'B' }] },
          { name: 'miner' },
        ],
      },
    },
    fields: {
      'f:spec': {
        'f:containers': {
          'k:{"name":"server"}': { 'f:env': { 'k:{"name":"B"}': { '.': {}, 'f:name': {} } } },
          'k:{"name":"miner"}': { '.': {}, 'f:name': {} },
        },
      },
    },
    found: [
      'spec.containers[{"name":"server"}].env[{"name":"B"}]={"name":"B"}',
      'spec.containers[{"name":"miner"}]={"name":"miner"}',
    ],
    left: {
      spec: { containers: [{ name: 'server', imagePullPolicy: 'Always', env: [{ name: 'A', value: '1' }] }] },
    },
  },
  {
    name: 'finds an item by keys of which the intent leaves one to its default',
    intent: { spec: { ports: [{ port: 80 }] } },
    live: { spec: { ports: [{ port: 80, protocol: 'TCP' }] } },
    fields: { 'f:spec': { 'f:ports': { 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:port': {} } } } },
    found: [],
  },
  {
    name: 'removes a value added to a set',
    intent: { spec: { zones: ['a'] } },
    live: { spec: { zones: ['a', 'b'] } },
    fields: { 'f:spec': { 'f:zones': { 'v:"b"': {} } } },
    found: ['spec.zones["b"]="b"'],
    left: { spec: { zones: ['a'] } },
  },
  {
    name: 'finds an item added to an atomic list',
    intent: { spec: { http: [{ route: [{ weight: 100 }] }] } },
    live: { spec: { http: [{ fault: {} }, { route: [{ weight: 100 }] }] } },
    fields: { 'f:spec': { 'f:http': {} } },
    found: ['spec.http=[{"fault":{}},{"route":[{"weight":100}]}]'],
  },
  {
    name: 'leaves what others own together with us',
    intent: { spec: { selector: { a: '1' } }, data: { a: '1' } },
    live: { spec: { selector: { a: '1' } }, data: { a: '1' } },
    fields: { 'f:spec': { 'f:selector': {} }, 'f:data': { 'f:a': {} } },
    found: [],
  },
  {
    name: 'leaves metadata at any depth, and the status',
    intent: { spec: { template: { metadata: { labels: {} } } } },
    live: { spec: { template: { metadata: { annotations: { restartedAt: 'now' } } } }, status: { ready: 1 } },
    fields: {
      'f:metadata': { 'f:labels': { 'f:x': {} } },
      'f:spec': { 'f:template': { 'f:metadata': { 'f:annotations': { 'f:restartedAt': {} } } } },
      'f:status': { 'f:ready': {} },
    },
    found: [],
  },
  {
    name: 'leaves paths that are not exclusive',
    intent: { spec: { template: {} } },
    live: { spec: { replicas: 4, paused: true, template: {} } },
    fields: { 'f:spec': { 'f:replicas': {}, 'f:paused': {} } },
    exclusive: { except: ['spec.replicas'] },
    found: ['spec.paused=true'],
    left: { spec: { replicas: 4, template: {} } },
  },
]

const head = { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'x' } }

function observed(live: object, managedFields: readonly object[], exclusive: Exclusive = {}): KubeObject {
  return withForeignFields({ ...head, ...live, metadata: { ...head.metadata, managedFields } } as KubeObject, exclusive)
}

for (const { name, intent, live, fields, exclusive, found, left } of cases) {
  test(`additions: ${name}`, () => {
    const seen = observed(live, [{ manager: 'kubectl', operation: 'Update', fieldsV1: fields }], exclusive)
    const result = additions({ ...head, ...intent }, seen)
    assert.deepEqual(result.found, found)
    assert.deepEqual({ ...result.without, metadata: head.metadata }, { ...head, ...(left ?? live) })
  })
}

test('additions: own entries, subresources and defaults after a repair are not foreign', () => {
  const own = { 'f:metadata': { 'f:annotations': { [`f:${INTENT_ANNOTATION}`]: {} } }, 'f:spec': { 'f:old': {} } }
  const spec = { 'f:spec': { 'f:replicas': {} } }
  const seen = observed({ spec: { replicas: 3, old: 1 } }, [
    { manager: 'us', operation: 'Apply', fieldsV1: own },
    { manager: 'kube-controller-manager', operation: 'Update', subresource: 'scale', fieldsV1: spec },
    { manager: REPAIR_MANAGER, operation: 'Update', fieldsV1: spec },
  ])
  assert.deepEqual(seen.metadata, head.metadata, 'nothing of it is kept')
  assert.deepEqual(additions({ ...head }, seen).found, [])
})

test('additions: trimming a cached object again changes nothing', () => {
  const once = observed({ spec: { paused: true } }, [
    { manager: 'kubectl', operation: 'Update', fieldsV1: { 'f:metadata': {}, 'f:spec': { 'f:paused': {} } } },
  ])
  assert.deepEqual(withForeignFields(once, {}), once)
})
