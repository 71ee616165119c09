/**
 * An upgrade from the previous release, back to it, and forward again, while jobs train and models serve. Both releases are
 * installed by Helm, and their operators run as processes with the ServiceAccounts of their charts. Needs the history of the
 * repository.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { modelDeployments, trainingJobs, trainingSchedules } from '../../src/api/kinds.ts'
import { type Client, createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import { isNotFound } from '../../src/kube/errors.ts'
import type { Resource } from '../../src/kube/object.ts'
import { Deployment } from '../../src/kube/resources.ts'
import { type ControlPlane, startControlPlane } from '../../testenv/control-plane.ts'
import { SYSTEM } from '../cluster/chart.ts'
import { type Helm, helmFor } from '../cluster/helm.ts'
import { createNamespace } from '../cluster/namespaces.ts'
import { type FakeNode, fakeNode, Kubelet } from '../fakes/kubelet.ts'
import { FakeRouters } from '../fakes/routers.ts'
import type { OperatorProcess } from '../operator/operator-process.ts'
import { until } from '../timing/until.ts'
import { reconciles, startInstalled } from '../upgrade/installed-operator.ts'
import {
  currentRelease,
  extractPreviousRelease,
  previousReleaseMissing,
  type Release,
} from '../upgrade/previous-release.ts'
import { type ReportServer, serveReports } from '../upgrade/report-server.ts'
import { TrafficWatch } from '../upgrade/traffic-watch.ts'
import {
  areServed,
  children,
  createNewer,
  createWorkloads,
  isSettled,
  jobStates,
  OBJECTS,
  outcomes,
  trainingPods,
} from '../upgrade/workloads.ts'

const TEAM = 'team'

let previous: Release & { readonly remove: () => void }
let plane: ControlPlane
let client: Client
let helm: Helm
let node: FakeNode
let kubelet: Kubelet
let reports: ReportServer
let watched: TrafficWatch
let operator: OperatorProcess

/** Replaces the operator by that of the installed chart: as in a rollout, it is ready before the old one stops. */
async function replaceOperator(main?: string): Promise<void> {
  const next = await startInstalled({ plane, client, reportServer: reports.port, ...(main !== undefined && { main }) })
  assert.equal(await operator.stop(), 0)
  operator = next
  await reconciles(operator, OBJECTS)
}

/** The images and names of the containers of the router. */
async function routerContainers(): Promise<string[]> {
  const { spec } = await client.get(Deployment, { namespace: TEAM, name: 'canary-router' })
  return (spec?.template.spec?.containers ?? []).map(({ name }) => name)
}

/** Runs a step, and checks that jobs and traffic are the same before, during and after it. */
async function leavesWorkAlone(proxy: string, step: () => Promise<void>): Promise<void> {
  const states = await jobStates(client, TEAM)
  const pods = await trainingPods(client, TEAM)
  const objects = await children(client, TEAM)
  watched.begin()
  const { fewestReady: ready } = watched.traffic()
  await step()
  await until(`the routers to run ${proxy}`, async () => (await routerContainers()).includes(proxy))
  await until('the models to be rolled out', () => areServed(client, TEAM))
  assert.deepEqual(await jobStates(client, TEAM), states)
  assert.deepEqual(await trainingPods(client, TEAM), pods)
  const now = await children(client, TEAM)
  for (const [name, uid] of objects) assert.equal(now.get(name), uid, `${name} is the same object`)
  const { fewestReady, routes, weights, selectors } = watched.traffic()
  assert.deepEqual(fewestReady, ready, 'no version and no router has ever fewer ready pods')
  for (const seen of [routes['canary'], weights['canary']]) assert.deepEqual(seen, ['{"v1":90,"v2":10}'])
  for (const [service, seen] of Object.entries(selectors))
    assert.equal(seen.length, 1, `${service} selects ${seen.join(', then ')}`)
  assert.doesNotMatch(operator.log(), /forbidden|"level":"(error|fatal)"/)
}

const isGone = (resource: Resource, name: string) =>
  until(`${resource.kind} ${name} to be gone`, () =>
    client.get(resource, { namespace: TEAM, name }).then(() => false, isNotFound),
  )

describe('an upgrade from the previous release', { skip: previousReleaseMissing() }, () => {
  before(async () => {
    previous = await extractPreviousRelease()
    plane = await startControlPlane()
    client = createClient(await configFromKubeconfig(plane.kubeconfig))
    helm = await helmFor(4, plane.kubeconfig)
    node = await fakeNode(client)
    for (const name of [SYSTEM, TEAM]) await createNamespace(client, name)
    kubelet = new Kubelet({ client, namespace: TEAM, node: node.name, decide: outcomes() })
    reports = await serveReports(kubelet, new FakeRouters())
    await helm('install', 'ml-operator', previous.chart, '-n', SYSTEM, '--set=image.tag=previous')
    await plane.kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s')
    operator = await startInstalled({ plane, client, reportServer: reports.port, main: previous.main })
    await createWorkloads(client, TEAM)
    await until('jobs and models to settle', () => isSettled(client, TEAM), 120_000)
    watched = new TrafficWatch(client, TEAM)
  })

  after(async () => {
    await operator.stop()
    await watched.stop()
    await kubelet.stop()
    reports.close()
    await node.remove()
    await client.close()
    await plane.stop()
    previous.remove()
  })

  test('leaves jobs and traffic alone, while the routers change from HAProxy to Envoy', async () => {
    await leavesWorkAlone('envoy', async () => {
      await helm('upgrade', 'ml-operator', currentRelease.chart, '-n', SYSTEM, '--set=image.tag=current')
      await replaceOperator()
    })
  })

  test('can be undone, also with objects that only the new release knows', async () => {
    await createNewer(client, TEAM)
    await until('the job to run', async () => {
      const { status } = await client.get(trainingJobs, { namespace: TEAM, name: 'newer' })
      return status?.state === 'Running'
    })
    await until('the model to run', () => areServed(client, TEAM))
    await leavesWorkAlone('haproxy', async () => {
      await helm('rollback', 'ml-operator', '-n', SYSTEM)
      await replaceOperator(previous.main)
    })
    const { spec } = await client.get(modelDeployments, { namespace: TEAM, name: 'newer' })
    assert.equal(spec.rollout, undefined, 'the old CRD does not have the field')
    await client.delete(trainingJobs, { namespace: TEAM, name: 'newer' })
    await isGone(trainingJobs, 'newer')
    await client.delete(modelDeployments, { namespace: TEAM, name: 'newer' })
    await isGone(modelDeployments, 'newer')
    await until('its children to be gone', async () => {
      const names = [...(await children(client, TEAM)).keys()]
      return !names.some((name) => name.includes('/newer-'))
    })
  })

  test('can be repeated, and jobs then complete in the attempt in which they were', async () => {
    await leavesWorkAlone('envoy', async () => {
      await helm('upgrade', 'ml-operator', currentRelease.chart, '-n', SYSTEM, '--set=image.tag=current')
      await replaceOperator()
    })
    const { metadata } = await client.get(trainingSchedules, { namespace: TEAM, name: 'nightly' })
    assert.equal(metadata.deletionTimestamp, undefined)
    const states = await jobStates(client, TEAM)
    kubelet.decide(outcomes(true))
    await until('all jobs to complete', async () => {
      const { waiting, ...others } = await jobStates(client, TEAM)
      return waiting?.state === 'Suspended' && Object.values(others).every(({ state }) => state === 'Completed')
    })
    for (const [name, { attempts, failures }] of Object.entries(await jobStates(client, TEAM)))
      assert.deepEqual([attempts, failures], [states[name]?.attempts, states[name]?.failures], name)
    await client.delete(modelDeployments, { namespace: TEAM, name: 'canary' })
  })
})
