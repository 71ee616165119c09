/** A release of the chart for two namespaces, on a real API server: its pods, its permissions, and those of its users. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { trainingJobs } from '../../src/api/kinds.ts'
import { type Client, createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import { Pod } from '../../src/kube/resources.ts'
import { type ControlPlane, startControlPlane } from '../../testenv/control-plane.ts'
import { trainingJob } from '../builders/training-job.ts'
import { CHART, setting, SYSTEM } from '../cluster/chart.ts'
import { type Helm, helmFor } from '../cluster/helm.ts'
import { createNamespace, RESTRICTED } from '../cluster/namespaces.ts'
import { type OperatorProcess, startOperatorProcess } from '../operator/operator-process.ts'
import { until } from '../timing/until.ts'

const VALUES = [
  '--set=watchNamespaces={team-a,team-b}',
  '--set=mlops.enabled=false',
  '--set=fullnameOverride=second',
  setting('webhook.certificate', { secretName: 'own', caBundle: '' }),
  setting('extraEnv', [{ name: 'HTTPS_PROXY', value: 'http://proxy.example.com' }]),
  setting('extraVolumes', [{ name: 'ca', emptyDir: {} }]),
  setting('extraVolumeMounts', [{ name: 'ca', mountPath: '/etc/ca' }]),
  setting('podLabels', { team: 'ml' }),
]

let plane: ControlPlane
let client: Client
let helm: Helm

const podsIn = async (namespace: string) => (await client.list(Pod, { namespace })).items

describe('a release for two namespaces', () => {
  before(async () => {
    plane = await startControlPlane()
    client = createClient(await configFromKubeconfig(plane.kubeconfig))
    helm = await helmFor(4, plane.kubeconfig)
    await createNamespace(client, SYSTEM, RESTRICTED)
    for (const name of ['team-a', 'team-b', 'team-c']) await createNamespace(client, name)
  })

  after(async () => {
    await client.close()
    await plane.stop()
  })

  test('its pods are created under Pod Security restricted', async () => {
    await helm('install', 'second', CHART, '-n', SYSTEM, ...VALUES)
    const pods = await until('both replicas', async () => {
      const found = await podsIn(SYSTEM)
      return found.length === 2 && found
    })
    assert.ok(pods.every(({ metadata }) => metadata.labels?.['team'] === 'ml'))
    await assert.rejects(plane.kubectl('get', 'crd', 'modeldeployments.mlops.sathvik.dev'), /not found/)
  })

  test('its ServiceAccount can do all that the operator does there, and nothing in other namespaces', async (t) => {
    const account = `system:serviceaccount:${SYSTEM}:second`
    const flags = ['--namespace=team-a,team-b', '--no-mlops', '--no-webhook', `--lease-namespace=${SYSTEM}`]
    const operator: OperatorProcess = await startOperatorProcess(plane.kubeconfigFor({ name: account }), [
      ...flags,
      '--lease-name=second',
    ])
    t.after(() => operator.stop())
    for (const team of ['team-c', 'team-a', 'team-b']) await client.create(trainingJobs, trainingJob(team, 'job'))
    for (const team of ['team-a', 'team-b'])
      await until(`the workers in ${team}`, async () => (await podsIn(team)).length === 2)
    assert.deepEqual(await podsIn('team-c'), [])
    assert.doesNotMatch(operator.log(), /forbidden/)
    await plane.kubectl('-n', 'team-a', 'delete', 'trainingjob', 'job', '--timeout=60s')
    const denied = plane.kubectl('auth', 'can-i', 'list', 'trainingjobs', '-n', 'team-c', `--as=${account}`)
    await assert.rejects(denied, /no/)
  })

  test('our kinds are part of the roles view and edit', async () => {
    for (const role of ['view', 'edit'])
      await plane.kubectl('-n', 'team-b', 'create', 'rolebinding', role, `--clusterrole=${role}`, `--user=${role}er`)
    const may = async (user: string, verb: string, kind: string, part = ''): Promise<boolean> => {
      const asked = [
        'auth',
        'can-i',
        verb,
        `${kind}.ml.example.com`,
        '-n',
        'team-b',
        `--as=${user}`,
        `--subresource=${part}`,
      ]
      return (await plane.kubectl(...asked).catch(() => 'no')).trim() === 'yes'
    }
    await until('the roles to be aggregated', async () => (await may('editer', 'create', 'trainingjobs')) || undefined)
    assert.equal(await may('viewer', 'list', 'modeldeployments'), true)
    assert.equal(await may('viewer', 'create', 'trainingjobs'), false)
    assert.equal(await may('editer', 'patch', 'trainingjobs', 'scale'), true)
    assert.equal(await may('editer', 'delete', 'modelservers'), true)
    assert.equal(await may('editer', 'patch', 'trainingjobs', 'status'), false)
  })

  test('it can be upgraded by another Helm, and uninstalled', async () => {
    const older = await helmFor(3, plane.kubeconfig)
    await older('upgrade', 'second', CHART, '-n', SYSTEM, ...VALUES, '--set=logLevel=debug')
    await helm('uninstall', 'second', '-n', SYSTEM)
    await plane.kubectl('get', 'crd', 'trainingjobs.ml.example.com')
  })
})
