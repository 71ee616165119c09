import assert from 'node:assert/strict'
import { test } from 'node:test'
import { modelDeployment } from '../../test/sim/serving-cluster.ts'
import { mlopsModel } from '../../test/builders/model-deployment.ts'
import type { Pod } from '../kube/resources.ts'
import { ROLE_LABEL } from '../plan/model-names.ts'
import { healthTargets } from './health-targets.ts'
import { trimmedServer } from './trimmed-pod.ts'

const model = modelDeployment({
  healthCheck: { endpoint: '/live', intervalSeconds: 15, timeoutSeconds: 900, failureThreshold: 4 },
})

const probe = (httpGet: object): object => ({
  readinessProbe: { httpGet: { path: '/live', port: 'http', ...httpGet } },
})
const PORTS = { ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }] }

interface Change {
  readonly metadata?: object
  readonly status?: object
  readonly container?: object
}

function pod({ metadata = {}, status = {}, container = {} }: Change = {}): Pod {
  const server = { name: 'server', image: 'iris:1', ...PORTS, ...probe({}), ...container }
  return trimmedServer({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a', uid: 'uid-a', labels: { [ROLE_LABEL]: 'server' }, ...metadata },
    spec: { containers: [{ name: 'sidecar', image: 'x' }, server] },
    status: {
      podIP: '10.0.0.7',
      hostIP: '192.168.0.1',
      conditions: [{ type: 'Ready', status: 'True' }],
      ...status,
    },
  })
}

test('a pod is called at its own address, by the port and path of its readiness probe, as often as the spec says', () => {
  assert.deepEqual(healthTargets(model, [pod()]), [
    {
      uid: 'uid-a',
      address: '10.0.0.7',
      port: 8080,
      path: '/live',
      intervalMs: 15_000,
      timeoutMs: 60_000,
      threshold: 4,
    },
  ])
  const other = pod({ container: probe({ path: '/old', port: 9000, host: '169.254.169.254' }) })
  const [target] = healthTargets(model, [other])
  assert.deepEqual([target?.address, target?.port, target?.path], ['10.0.0.7', 9000, '/old'])
})

test('a model of mlops.sathvik.dev has the default interval', () => {
  const [target] = healthTargets(mlopsModel('team-a', 'iris'), [pod()])
  assert.deepEqual([target?.intervalMs, target?.timeoutMs, target?.threshold], [30_000, 5_000, 3])
})

const notReady = (lastTransitionTime: string) => ({
  conditions: [{ type: 'Ready', status: 'False', lastTransitionTime }],
  containerStatuses: [{ name: 'server', restartCount: 0, state: { running: { startedAt: '2026-01-01T00:05:00Z' } } }],
})

test('a pod that is no longer ready is checked', () => {
  assert.equal(healthTargets(model, [pod({ status: notReady('2026-01-01T00:06:00Z') })]).length, 1)
})

const unchecked: readonly (readonly [string, Change])[] = [
  ['has not been ready since its server started', { status: notReady('2026-01-01T00:04:00Z') }],
  ['is a router', { metadata: { labels: { [ROLE_LABEL]: 'router' } } }],
  ['is terminating', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }],
  ['has no address', { status: { podIP: undefined } }],
  ['is on the network of its node', { status: { podIP: '192.168.0.1' } }],
  ['has a probe by command', { container: { readinessProbe: { exec: { command: ['true'] } } } }],
  ['has a probe by HTTPS', { container: probe({ scheme: 'HTTPS' }) }],
  ['has a probe of a port that it does not have', { container: probe({ port: 'grpc' }) }],
]
for (const [what, change] of unchecked)
  test(`does not check a pod that ${what}`, () => assert.deepEqual(healthTargets(model, [pod(change)]), []))
