/**
 * PodGroups of training jobs, on a cluster of its own that serves the kinds of every gang scheduler. Only the scheduler of
 * Kubernetes runs; Volcano and scheduler-plugins are present by their CRDs.
 */
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { trainingJobs } from '../../src/api/kinds.ts'
import type { GangSchedulerName } from '../../src/api/training-scheduling.ts'
import { apiVersionOf, controllerOf, type KubeObject, type Resource } from '../../src/kube/object.ts'
import { CustomResourceDefinition, Pod } from '../../src/kube/resources.ts'
import { CoschedulingPodGroup } from '../../src/plan/training/gangs/coscheduling.ts'
import { NativePodGroup } from '../../src/plan/training/gangs/native.ts'
import { gangKindName } from '../../src/plan/training/gangs/registry.ts'
import { VolcanoPodGroup } from '../../src/plan/training/gangs/volcano.ts'
import { succeedTogether } from '../builders/training-job.ts'
import { ownCluster } from '../cluster/own-cluster.ts'
import { installPublished } from '../cluster/traffic-crds.ts'
import type { Decide } from '../fakes/kubelet.ts'
import { ownNamespace } from '../fixtures/serving.ts'
import { NAME, trainingFixture } from '../fixtures/training.ts'
import { until } from '../timing/until.ts'

const { cluster, client, node } = await ownCluster({
  featureGates: ['GenericWorkload', 'GangScheduling'],
  apis: [apiVersionOf(NativePodGroup)],
})

async function setUp(t: TestContext, name: string, decide: Decide = () => undefined) {
  const namespace = await ownNamespace(t, client, name)
  return trainingFixture(
    t,
    { cluster, client, node: node.name },
    { namespace, decide, resyncMs: 200, discoveryMs: 200 },
  )
}

type Group = KubeObject & { readonly spec: Readonly<Record<string, unknown>> }

interface Expected {
  readonly resource: Resource
  readonly group: string
  readonly spec: object
  readonly isMember: (pod: Pod) => boolean
  /** A manual change that is reverted. Absent: the API server rejects changes. */
  readonly edit?: object
}

const schedulingGroup = (pod: Pod) => (pod.spec as { schedulingGroup?: { podGroupName?: string } }).schedulingGroup

const expectations: Readonly<Partial<Record<GangSchedulerName, Expected>>> = {
  native: {
    resource: NativePodGroup,
    group: `${NAME}-2`,
    spec: { schedulingPolicy: { gang: { minCount: 2 } } },
    isMember: (pod) => schedulingGroup(pod)?.podGroupName === `${NAME}-2`,
  },
  coscheduling: {
    resource: CoschedulingPodGroup,
    group: NAME,
    spec: { minMember: 2, scheduleTimeoutSeconds: 600 },
    isMember: ({ metadata }) => metadata.labels?.['scheduling.x-k8s.io/pod-group'] === NAME,
    edit: { minMember: 1 },
  },
  volcano: {
    resource: VolcanoPodGroup,
    group: NAME,
    spec: { minMember: 2, minResources: { cpu: '1', memory: '2147483648' }, queue: 'default' },
    isMember: ({ metadata }) => metadata.annotations?.['scheduling.k8s.io/group-name'] === NAME,
    edit: { minMember: 1, queue: 'elsewhere' },
  },
}

describe('a gang scheduler', () => {
  test('that the cluster does not serve is reported, and used as soon as it is installed', async (t) => {
    const { create, job, runs, reaches, ns } = await setUp(t, 'later')
    await create({ scheduling: { gang: 'volcano' } })
    const { status } = await reaches('Pending')
    assert.match(status?.reason ?? '', /^GangSchedulerUnavailable: scheduling.gang is volcano/)
    assert.deepEqual((await client.list(Pod, { namespace: ns })).items, [])
    await installPublished(client, VolcanoPodGroup)
    await runs(2)
    assert.equal((await job()).status?.scheduling?.gang, 'volcano')
  })

  for (const [name, expected] of Object.entries(expectations))
    test(`${name}: the PodGroup exists before the pods, is repaired, and is removed at the end`, async (t) => {
      const { resource, group, spec, isMember, edit } = expected
      if (resource !== NativePodGroup) await installPublished(client, resource)
      const { create, runs, reaches, kubelet, disappears, ns } = await setUp(t, name)
      const key = { namespace: ns, name: group }
      const stored = async (): Promise<Group> => (await client.get(resource, key)) as Group
      const isIntact = (): Promise<true> =>
        until('the PodGroup', async () => {
          assert.partialDeepStrictEqual((await stored()).spec, spec)
          return true
        })
      await create({ scheduling: { gang: name as GangSchedulerName } })
      const pods = await runs(2)
      assert.ok(pods.every(isMember))
      await isIntact()
      const { metadata } = await stored()
      assert.equal(controllerOf({ ...(await stored()), metadata })?.name, NAME)
      const created = (pod: Pod): number => Date.parse(pod.metadata.creationTimestamp ?? '')
      assert.ok(pods.every((pod) => created(pod) >= Date.parse(metadata.creationTimestamp ?? '')))
      if (edit) {
        await client.patch(resource, key, { spec: edit })
        await isIntact()
        await client.delete(resource, key)
        await isIntact()
      }
      const { status } = await reaches('Running')
      assert.deepEqual([status?.scheduling?.gang, status?.scheduling?.podGroup], [name, group])
      kubelet.decide(succeedTogether(2))
      await reaches('Completed')
      await disappears(resource, group)
    })

  for (const [name, { resource, group }] of Object.entries(expectations))
    test(`${name}: a foreign PodGroup of that name is a conflict; a deleted job takes its own with it`, async (t) => {
      const { create, runs, condition, disappears, ns, key } = await setUp(t, `${name}-conflict`)
      const spec = resource === NativePodGroup ? { schedulingPolicy: { basic: {} } } : { minMember: 7 }
      const foreign = {
        apiVersion: apiVersionOf(resource),
        kind: resource.kind,
        metadata: { namespace: ns, name: group },
        spec,
      }
      await client.create(resource, foreign)
      await create({ scheduling: { gang: name as GangSchedulerName } })
      await until('the conflict', async () => (await condition('Conflict'))?.status === 'True')
      assert.partialDeepStrictEqual(await client.get(resource, { namespace: ns, name: group }), { spec })
      await client.delete(resource, { namespace: ns, name: group })
      await runs(2)
      await client.delete(trainingJobs, key)
      await disappears(trainingJobs, NAME)
      await disappears(resource, group)
    })

  for (const [name, { resource }] of Object.entries(expectations).filter(([, { edit }]) => edit))
    test(`${name}: removed while a job waits, it is reported; the pods stay, and get their group again`, async (t) => {
      await installPublished(client, resource)
      const { create, job, pods, runs, kubelet, key } = await setUp(t, `${name}-removed`, () => 'unscheduled')
      const isStored = (): Promise<boolean> =>
        client.get(resource, key).then(
          () => true,
          () => false,
        )
      await create({ scheduling: { gang: name as GangSchedulerName } })
      const uids = async () => (await pods()).map(({ metadata }) => metadata.uid)
      await until('the pods and their group', async () => (await isStored()) && (await pods()).length === 2)
      const before = await uids()
      await client.delete(CustomResourceDefinition, { name: gangKindName(resource) })
      await until('the removal', async () => (await job()).status?.reason?.startsWith('GangSchedulerUnavailable: '))
      assert.deepEqual(await uids(), before)
      await installPublished(client, resource)
      await until('the group', isStored)
      kubelet.decide(() => undefined)
      await runs(2)
      assert.deepEqual(await uids(), before)
    })

  test('auto takes the first that is served', async (t) => {
    const { create, reaches } = await setUp(t, 'auto')
    await create()
    const { status } = await reaches('Running')
    assert.equal(status?.scheduling?.gang, 'volcano')
  })
})
