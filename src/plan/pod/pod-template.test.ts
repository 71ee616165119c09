/** What the operator keeps for itself survives every template, also one that the rules of the CRD have not checked. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { RESERVED_KEYS, servingGuards, trainingGuards } from '../../api/pod-guards.ts'
import type { UserPodTemplate } from '../../api/pod-template.ts'
import { type RenderedPod, withPodTemplates } from './pod-template.ts'

const worker = {
  name: 'training-worker',
  image: 'ours',
  command: ['train'],
  env: [{ name: 'RANK', value: '0' }],
  volumeMounts: [{ name: 'checkpoints', mountPath: '/ckpt' }],
  resources: { requests: { cpu: '1' }, limits: { cpu: '2' } },
}

const pod = {
  metadata: { labels: { app: 'trainingjob' }, annotations: { 'trainingjob.ml.example.com/template': 'x' } },
  spec: {
    restartPolicy: 'Never',
    subdomain: 'bert-workers',
    containers: [worker],
    volumes: [{ name: 'checkpoints', persistentVolumeClaim: { claimName: 'c' } }],
  },
} as RenderedPod

const merged = (...templates: readonly object[]) =>
  withPodTemplates(pod, templates as readonly UserPodTemplate[], trainingGuards)

const hostile = {
  metadata: { labels: { app: 'x', team: 'a' }, annotations: { 'trainingjob.ml.example.com/template': 'y' } },
  spec: {
    ...Object.fromEntries(Object.keys(trainingGuards.fields).map((field) => [field, 'x'])),
    containers: [
      {
        name: 'training-worker',
        image: 'theirs',
        command: ['sleep'],
        args: ['x'],
        envFrom: [{}],
        env: trainingGuards.container.variables.map((name) => ({ name, value: 'x' })),
        volumeMounts: [
          { name: 'x', mountPath: '/ckpt' },
          { name: 'x', mountPath: '/dev/shm' },
        ],
        resources: { requests: { cpu: '9' }, limits: null, claims: [{ name: 'gpu' }] },
      },
    ],
    volumes: [{ name: 'checkpoints', emptyDir: {} }],
  },
}

test('a template that sets everything that is guarded changes nothing of it', () => {
  const { metadata, spec } = merged(hostile)
  assert.deepEqual(metadata, { ...pod.metadata, labels: { team: 'a', app: 'trainingjob' } })
  const resources = { ...worker.resources, claims: [{ name: 'gpu' }] }
  assert.deepEqual(spec, { ...pod.spec, containers: [{ ...worker, resources }] })
})

test('no template is the identity, and so is an empty one', () => {
  assert.deepEqual(withPodTemplates(pod, [undefined, undefined], trainingGuards), pod)
  assert.deepEqual(merged({}, { metadata: {} }, { spec: {} }), pod)
})

test('the second template is merged after the first', () => {
  const { spec } = merged({ spec: { dnsPolicy: 'None' } }, { spec: { dnsPolicy: 'Default' } })
  assert.equal(spec.dnsPolicy, 'Default')
})

test('a pod in the network of its node uses the DNS of the cluster, unless the template says otherwise', () => {
  assert.equal(merged({ spec: { hostNetwork: true } }).spec.dnsPolicy, 'ClusterFirstWithHostNet')
  assert.equal(merged({ spec: { hostNetwork: true, dnsPolicy: 'Default' } }).spec.dnsPolicy, 'Default')
})

test('the port of a server keeps its name', () => {
  const server = { name: 'server', image: 'a', ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }] }
  const ports = [
    { name: 'other', containerPort: 8080, hostPort: 80 },
    { name: 'metrics', containerPort: 9090 },
  ]
  const template = { spec: { containers: [{ name: 'server', ports }] } } as object as UserPodTemplate
  const { spec } = withPodTemplates({ ...pod, spec: { containers: [server] } }, [template], servingGuards)
  assert.deepEqual(spec.containers[0]?.ports, [
    { name: 'http', containerPort: 8080, protocol: 'TCP', hostPort: 80 },
    { name: 'metrics', containerPort: 9090 },
  ])
})

const anything = fc.jsonValue({ maxDepth: 2 })
const templates = fc
  .record({
    metadata: fc.record({ labels: fc.dictionary(fc.constantFrom('app', 'component', 'team'), fc.string()) }),
    spec: fc.dictionary(
      fc.constantFrom(
        'restartPolicy',
        'subdomain',
        'hostname',
        'serviceAccountName',
        'dnsPolicy',
        'containers',
        'volumes',
      ),
      fc.oneof(
        anything,
        fc.array(
          fc.record({ name: fc.constantFrom('training-worker', 'checkpoints', 'x'), image: anything, env: anything }),
        ),
      ),
    ),
  })
  .map((value) => JSON.parse(JSON.stringify(value)) as UserPodTemplate)

test('for all templates: labels, names, volumes and the training process stay as they are', () => {
  fc.assert(
    fc.property(templates, (template) => {
      const { metadata, spec } = merged(template)
      assert.equal(metadata.labels['app'], 'trainingjob')
      assert.deepEqual([spec.restartPolicy, spec.subdomain, spec.hostname], ['Never', 'bert-workers', undefined])
      assert.deepEqual([spec.containers[0]?.image, spec.containers[0]?.command], ['ours', ['train']])
      assert.ok(spec.containers[0]?.env?.some(({ name, value }) => name === 'RANK' && value === '0'))
      assert.deepEqual(spec.volumes?.[0], pod.spec.volumes?.[0])
    }),
  )
})

test('keys of our domains are reserved, others are not', () => {
  const isReserved = (key: string): boolean => new RegExp(RESERVED_KEYS).test(key)
  for (const key of ['app', 'component', 'trainingjob', 'job-name', 'ml.example.com/x', 'a.b.mlops.sathvik.dev/x'])
    assert.ok(isReserved(key), key)
  for (const key of ['app.kubernetes.io/name', 'team', 'notml.example.com/x', 'prometheus.io/port', 'application'])
    assert.ok(!isReserved(key), key)
})
