import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { JsonObject } from '../../api/json.ts'
import { appended, mergeKeys, mergePodSpec } from './merge.ts'

const server = { name: 'server', image: 'a', env: [{ name: 'A', value: '1' }] }

/** Base, part, result. */
const table: readonly [string, JsonObject, JsonObject, JsonObject][] = [
  ['a value', { dnsPolicy: 'Default' }, { dnsPolicy: 'None' }, { dnsPolicy: 'None' }],
  ['a name that every object has', {}, { constructor: { a: [1] } }, { constructor: { a: [1] } }],
  ['a map', { nodeSelector: { a: '1', b: '1' } }, { nodeSelector: { b: '2' } }, { nodeSelector: { a: '1', b: '2' } }],
  ['null', { securityContext: { runAsUser: 1 } }, { securityContext: { runAsUser: null } }, { securityContext: {} }],
  [
    'containers by name',
    { containers: [server] },
    { containers: [{ name: 'side' }, { name: 'server', tty: true }] },
    { containers: [{ ...server, tty: true }, { name: 'side' }] },
  ],
  [
    'variables by name',
    { containers: [server] },
    {
      containers: [
        {
          name: 'server',
          env: [
            { name: 'B', value: '2' },
            { name: 'A', valueFrom: { fieldRef: {} } },
          ],
        },
      ],
    },
    {
      containers: [
        {
          ...server,
          env: [
            { name: 'A', valueFrom: { fieldRef: {} } },
            { name: 'B', value: '2' },
          ],
        },
      ],
    },
  ],
  [
    'ports by number and protocol',
    { containers: [{ name: 'a', ports: [{ name: 'http', containerPort: 80, protocol: 'TCP' }] }] },
    {
      containers: [
        {
          name: 'a',
          ports: [
            { containerPort: 80, hostPort: 80 },
            { containerPort: 80, protocol: 'UDP' },
          ],
        },
      ],
    },
    {
      containers: [
        {
          name: 'a',
          ports: [
            { name: 'http', containerPort: 80, protocol: 'TCP', hostPort: 80 },
            { containerPort: 80, protocol: 'UDP' },
          ],
        },
      ],
    },
  ],
  [
    'mounts by path',
    { initContainers: [{ name: 'a', volumeMounts: [{ name: 'x', mountPath: '/x' }] }] },
    { initContainers: [{ name: 'a', volumeMounts: [{ name: 'y', mountPath: '/x' }] }] },
    { initContainers: [{ name: 'a', volumeMounts: [{ name: 'y', mountPath: '/x' }] }] },
  ],
  [
    'device claims by name',
    { containers: [{ name: 'a', resources: { claims: [{ name: 'x' }], limits: { cpu: '1' } } }] },
    { containers: [{ name: 'a', resources: { claims: [{ name: 'y' }] } }] },
    { containers: [{ name: 'a', resources: { claims: [{ name: 'x' }, { name: 'y' }], limits: { cpu: '1' } } }] },
  ],
  [
    'the source of a volume replaces another one',
    { volumes: [{ name: 'a', emptyDir: { sizeLimit: '1Gi' } }] },
    { volumes: [{ name: 'a', hostPath: { path: '/a' } }] },
    { volumes: [{ name: 'a', hostPath: { path: '/a' } }] },
  ],
  [
    'the same source of a volume is merged',
    { volumes: [{ name: 'a', emptyDir: { sizeLimit: '1Gi' } }] },
    { volumes: [{ name: 'a', emptyDir: { medium: 'Memory' } }] },
    { volumes: [{ name: 'a', emptyDir: { sizeLimit: '1Gi', medium: 'Memory' } }] },
  ],
  [
    'the handler of a probe replaces another one',
    { containers: [{ name: 'a', readinessProbe: { httpGet: { path: '/' }, periodSeconds: 5 } }] },
    { containers: [{ name: 'a', readinessProbe: { exec: { command: ['ok'] } } }] },
    { containers: [{ name: 'a', readinessProbe: { exec: { command: ['ok'] }, periodSeconds: 5 } }] },
  ],
  [
    'tolerations are appended once',
    { tolerations: [{ key: 'gpu' }] },
    { tolerations: [{ key: 'spot' }, { key: 'gpu' }] },
    { tolerations: [{ key: 'gpu' }, { key: 'spot' }] },
  ],
  [
    'topology spread by key and rule',
    { topologySpreadConstraints: [{ topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', maxSkew: 1 }] },
    {
      topologySpreadConstraints: [
        { topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', maxSkew: 2 },
        { topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway', maxSkew: 1 },
      ],
    },
    {
      topologySpreadConstraints: [
        { topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', maxSkew: 2 },
        { topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway', maxSkew: 1 },
      ],
    },
  ],
  [
    'host aliases by address',
    { hostAliases: [{ ip: '1', hostnames: ['a'] }] },
    { hostAliases: [{ ip: '1', hostnames: ['b'] }, { ip: '2' }] },
    { hostAliases: [{ ip: '1', hostnames: ['b'] }, { ip: '2' }] },
  ],
  [
    'other lists are replaced',
    { dnsConfig: { nameservers: ['1'] } },
    { dnsConfig: { nameservers: ['2'] } },
    { dnsConfig: { nameservers: ['2'] } },
  ],
]

for (const [name, base, part, expected] of table)
  test(`merges: ${name}`, () => assert.deepEqual(mergePodSpec(base, part), expected))

/** Specs with all fields of the tables, so that items of both sides meet. */
const text = fc.constantFrom('a', 'b', 'c')
const named = (more: Record<string, fc.Arbitrary<unknown>> = {}) => fc.record({ name: text, ...more })
const list = (item: fc.Arbitrary<unknown>) => fc.array(item, { maxLength: 3 })
const byName = (item: fc.Arbitrary<{ name: string }>) =>
  fc.uniqueArray(item, { maxLength: 3, selector: ({ name }) => name })
const container = named({
  env: byName(named({ value: text })),
  volumeMounts: list(fc.record({ mountPath: text, name: text })),
  ports: list(fc.record({ containerPort: fc.nat(2), protocol: fc.constantFrom('TCP', 'UDP') })),
  args: list(text),
})
const spec = fc
  .record(
    {
      containers: byName(container),
      volumes: byName(named({ emptyDir: fc.constant({}) })),
      tolerations: list(fc.record({ key: text })),
      hostAliases: list(fc.record({ ip: text, hostnames: list(text) })),
      nodeSelector: fc.dictionary(text, text),
      dnsPolicy: text,
    },
    { requiredKeys: [] },
  )
  .map((value) => JSON.parse(JSON.stringify(value)) as JsonObject)

test('merging nothing changes nothing', () => {
  fc.assert(fc.property(spec, (base) => assert.deepEqual(mergePodSpec(base, {}), base)))
})

test('merging the same part twice is the same as merging it once', () => {
  fc.assert(
    fc.property(spec, spec, (base, part) => {
      const once = mergePodSpec(base, part)
      assert.deepEqual(mergePodSpec(once, part), once)
    }),
  )
})

test('no item of a list with a merge key is lost, and the containers of the base stay first', () => {
  fc.assert(
    fc.property(spec, spec, (base, part) => {
      const names = (value: JsonObject) => ((value['containers'] ?? []) as { name: string }[]).map(({ name }) => name)
      const merged = mergePodSpec(base, part)
      assert.deepEqual(names(merged).slice(0, names(base).length), names(base))
      for (const name of names(part)) assert.ok(names(merged).includes(name))
    }),
  )
})

test('no list has both a merge key and is appended', () => {
  assert.deepEqual(
    Object.keys(mergeKeys).filter((path) => appended.has(path)),
    [],
  )
})

test('the work grows with the number of items, not with its square', () => {
  const volumes = Array.from({ length: 20_000 }, (_, index) => ({ name: `v${index}` }))
  const tolerations = Array.from({ length: 20_000 }, (_, index) => ({ key: `k${index}` }))
  const before = process.threadCpuUsage()
  const merged = mergePodSpec({ volumes, tolerations }, { volumes, tolerations, containers: volumes })
  const { user } = process.threadCpuUsage(before)
  assert.deepEqual([merged['volumes'], merged['tolerations']], [volumes, tolerations])
  assert.ok(user < 2_000_000, `${user} µs of CPU time; the square of it would take minutes`)
})
