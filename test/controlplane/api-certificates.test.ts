/** The certificates of the conversion webhook on a real API server. */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { CONVERSION_SERVICE } from '../../src/api/crd.ts'
import { alphaTrainingJobs, trainingJobs } from '../../src/api/kinds.ts'
import { createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import { CustomResourceDefinition, Secret } from '../../src/kube/resources.ts'
import { lifetimes, type Lifetimes, renewBundle } from '../../src/webhooks/certificate-bundle.ts'
import { loadBundle, storeBundle } from '../../src/webhooks/certificate-secret.ts'
import { freePorts } from '../../testenv/ports.ts'
import { client, failures, job, plane, running, SECRET, startWebhook, throttled } from '../fixtures/conversion.ts'
import { until } from '../timing/until.ts'

test('replicas that start together share one CA and one certificate', async (t) => {
  await client.delete(Secret, SECRET)
  const [a = 0] = await freePorts(1)
  const replicas = await Promise.all([startWebhook({ port: a }), startWebhook(), startWebhook()])
  t.after(() => Promise.all(replicas.map((replica) => replica.close())))
  await until('all to be ready', () => replicas.every((replica) => replica.check() === undefined))
  assert.equal(new Set(replicas.map((replica) => replica.certificateExpiresAt)).size, 1)
  const { bundle } = await loadBundle(client, SECRET)
  assert.equal(bundle?.authorities.length, 1)
})

test('inside a cluster, the CRD and the certificate name the Service', async (t) => {
  await client.delete(Secret, SECRET)
  const [port = 0] = await freePorts(1)
  const webhook = await startWebhook({ port, endpoint: { service: CONVERSION_SERVICE } })
  t.after(() => webhook.close())
  await until('the webhook to be ready', () => webhook.check() === undefined)
  const { spec } = await client.get(CustomResourceDefinition, { name: 'trainingjobs.ml.example.com' })
  assert.deepEqual(spec.conversion?.webhook?.clientConfig?.service, CONVERSION_SERVICE)
  assert.equal(spec.conversion?.webhook?.clientConfig?.url, undefined)
  const { bundle } = await loadBundle(client, SECRET)
  assert.ok(bundle)
  assert.equal(
    Buffer.from(spec.conversion?.webhook?.clientConfig?.caBundle ?? '', 'base64').toString(),
    bundle.authorities.join(''),
  )
  const name = 'ml-operator-webhook.ml-operator-system.svc'
  assert.equal(new X509Certificate(bundle.leaf.cert).checkHost(name), name)
})

test('is not ready without permission to publish, and reports why', async (t) => {
  const nobody = createClient(await configFromKubeconfig(plane.kubeconfigFor({ name: 'nobody' })))
  t.after(() => nobody.close())
  const webhook = await startWebhook({ client: nobody })
  t.after(() => webhook.close())
  await until('the reason', () => /secrets .*is forbidden/.test(webhook.check() ?? ''))
})

test('replaces expired certificates before it is ready', async (t) => {
  const stored = await loadBundle(client, SECRET)
  const policy = { ...lifetimes, dnsNames: [], ipAddresses: ['127.0.0.1'] }
  await storeBundle(client, SECRET, renewBundle(undefined, Date.now() - 1000 * 86_400_000, policy), stored)
  const webhook = await running(t)
  assert.ok((webhook.certificateExpiresAt ?? 0) > Date.now())
})

test('renews certificate and CA under load without a failed call', async (t) => {
  await client.delete(Secret, SECRET)
  const short: Lifetimes = { authorityMs: 36_000, leafMs: 12_000, settleMs: 6_000 }
  await running(t, { lifetimes: short, pollMs: 100 })
  const { bundle: first } = await loadBundle(client, SECRET)
  assert.ok(first)
  await client.create(trainingJobs, job('rotated'))
  const shown = new Set<string>()
  throttled.length = 0
  const firstAuthorityEnds = new X509Certificate(first.authorities[0]).validToDate.getTime()
  let calls = 0
  while (Date.now() < firstAuthorityEnds + 1_000) {
    const { spec } = await client.get(alphaTrainingJobs, { namespace: 'ml-jobs', name: 'rotated' })
    assert.equal(spec.workers, 4)
    calls += 1
    if (calls % 10 === 0) shown.add((await loadBundle(client, SECRET)).bundle?.leaf.cert ?? '')
  }
  const { bundle: last } = await loadBundle(client, SECRET)
  assert.ok(last && !last.authorities.includes(first.authorities[0]), 'the first CA is removed')
  assert.ok(shown.size >= 4, `${shown.size} certificates`)
  assert.deepEqual(failures, [])
  t.diagnostic(`${calls} calls over ${shown.size} certificates, none failed, ${throttled.length} throttled`)
})
