/** Host names and gateways that the API server rejects by the CRD alone, with a message that names the field and the fix. */
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { modelDeployments } from '../../src/api/kinds.ts'
import type { Client } from '../../src/kube/client.ts'
import { ApiError } from '../../src/kube/errors.ts'
import { installApi } from '../cluster/api.ts'
import { namespace, sharedCluster } from '../cluster/shared-cluster.ts'
import { modelDeployment } from '../builders/model-deployment.ts'

let client: Client
before(async () => {
  client = (await sharedCluster()).client
  await installApi(client)
})

const rejection = (ns: string, traffic: object): Promise<string> =>
  client.create(modelDeployments, modelDeployment(ns, 'bert', { traffic }), { dryRun: true }).then(
    () => '',
    (error: unknown) => {
      assert.ok(error instanceof ApiError && error.code === 422, String(error))
      return error.message
    },
  )

describe('admission of host names', () => {
  test('rejects names that belong to others', async (t) => {
    const ns = await namespace(t)
    const table: readonly (readonly [string, RegExp])[] = [
      ['payments.prod.svc.cluster.local', /must not name a host inside the cluster: use a public name/],
      ['payments.prod.svc', /must not name a host inside the cluster/],
      ['*.cluster.local', /must not name a host inside the cluster/],
      ['model.localhost', /must not name a host inside the cluster/],
      ['localhost', /must have at least two labels/],
      ['payments', /must have at least two labels/],
      ['*.com', /must have at least two labels/],
      ['*', /hostnames/],
      ['10.0.0.1', /must not be an IP address/],
    ]
    for (const [hostname, message] of table)
      assert.match(await rejection(ns, { gateways: ['public'], hostnames: [hostname] }), message, hostname)
  })

  test('rejects the mesh as a gateway, and host names without a gateway', async (t) => {
    const ns = await namespace(t)
    const hostnames = ['model.example.com']
    assert.match(await rejection(ns, { gateways: ['mesh'], hostnames }), /gateways must not be mesh/)
    for (const gateway of ['a/b/c', '/public', 'other/', 'Other/public', '../public', 'other/Public', 'other//public'])
      assert.match(await rejection(ns, { gateways: [gateway], hostnames }), /gateways/, gateway)
    assert.match(await rejection(ns, { hostnames }), /hostnames need spec.traffic.gateways: set gateways/)
  })

  test('accepts public names', async (t) => {
    const ns = await namespace(t)
    const hostnames = ['model.example.com', '*.models.example.com']
    assert.equal(await rejection(ns, { gateways: ['public', 'infra/public'], hostnames }), '')
  })
})
