/** Addresses inside of the cluster or of a cloud, in every field that has an address: what the API server accepts. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { modelDeployments, modelServers } from '../../src/api/kinds.ts'
import type { Client } from '../../src/kube/client.ts'
import { ApiError } from '../../src/kube/errors.ts'
import type { KubeObject, Resource } from '../../src/kube/object.ts'
import { modelDeployment } from '../builders/model-deployment.ts'
import { installApi } from '../cluster/api.ts'
import { namespace, sharedCluster } from '../cluster/shared-cluster.ts'

let client: Client
before(async () => {
  client = (await sharedCluster()).client
  await installApi(client)
})

const PAYLOADS: readonly string[] = [
  'http://169.254.169.254/latest/meta-data/',
  'http://[fd00:ec2::254]/latest/',
  'http://metadata.google.internal/computeMetadata/v1/',
  'http://127.0.0.1:10250/pods',
  'http://localhost:8000/metrics',
  'https://kubernetes.default.svc/api/v1/secrets',
  'http://2130706433/',
  'http://0x7f000001/',
  'http://0177.0.0.1/',
  'http://[::1]/',
  'http://[::ffff:169.254.169.254]/',
  'http://user:password@10.0.0.1/',
  'http://example.com@169.254.169.254/',
  '//169.254.169.254/x',
  '/\\169.254.169.254/x',
  'file:///etc/passwd',
  'gopher://127.0.0.1:6379/_SET',
  'dict://127.0.0.1:11211/stats',
  'unix:///run/containerd/containerd.sock',
  'jar:http://127.0.0.1!/',
  '169.254.169.254',
  '127.0.0.1:10250',
  'localhost',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
  'x.localhost',
  '0x7f.1',
  'example.com\r\nHost: 169.254.169.254',
  'example.com#@169.254.169.254',
  'example.com?@169.254.169.254',
  '../../169.254.169.254',
]

interface AddressField {
  readonly name: string
  readonly resource: Resource
  readonly make: (namespace: string, address: string) => KubeObject
  /** Payloads that are accepted, because only the pod of the user opens a connection. */
  readonly accepts?: RegExp
}

const model = (make: (address: string) => object): Pick<AddressField, 'resource' | 'make'> => ({
  resource: modelDeployments,
  make: (ns, address) => modelDeployment(ns, 'bert', make(address)),
})

const server = (make: (address: string) => object): Pick<AddressField, 'resource' | 'make'> => ({
  resource: modelServers,
  make: (ns, address) =>
    ({
      apiVersion: 'ml.example.com/v1',
      kind: 'ModelServer',
      metadata: { namespace: ns, name: 'own' },
      spec: { image: 'example.com/own:1', ...make(address) },
    }) as KubeObject,
})

const FIELDS: readonly AddressField[] = [
  {
    name: 'versions[].modelPath',
    ...model((modelPath) => ({ versions: [{ name: 'v1', weight: 100, modelPath }] })),
    // Fetched by an init container in the pod of the model, which has no credentials of the operator.
    accepts: /^https?:\/\/[^@]*$|^\/\/169|^\/\\169/,
  },
  { name: 'healthCheck.endpoint', ...model((endpoint) => ({ healthCheck: { endpoint } })), accepts: /^\/\\169/ },
  {
    name: 'traffic.hostnames[]',
    ...model((name) => ({ traffic: { gateways: ['public'], hostnames: [name] } })),
    // Two labels can be a public name. It is matched with requests at the gateway; nothing connects to it.
    accepts: /^kubernetes\.default$/,
  },
  {
    name: 'traffic.gateways[]',
    ...model((name) => ({ traffic: { gateways: [name] } })),
    // The name of an object, not an address.
    accepts: /^[a-z0-9.]+$/,
  },
  { name: 'probes.readiness.path', ...server((path) => ({ probes: { readiness: { path } } })), accepts: /^\/\\169/ },
]

for (const { name, resource, make, accepts } of FIELDS)
  test(`${name} with an address of others`, async (t) => {
    const ns = await namespace(t)
    const unexpected: string[] = []
    for (const address of PAYLOADS) {
      const isAccepted = await client.create(resource, make(ns, address), { dryRun: true }).then(
        () => true,
        (error: unknown) => {
          assert.ok(error instanceof ApiError && error.code === 422, `${address}: ${String(error)}`)
          return false
        },
      )
      if (isAccepted !== (accepts?.test(address) ?? false))
        unexpected.push(`${isAccepted ? 'accepts' : 'rejects'} ${address}`)
    }
    assert.deepEqual(unexpected, [])
  })
