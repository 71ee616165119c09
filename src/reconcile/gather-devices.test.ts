/** Which pods are read to find out what is free: none that the caches or the need for them rule out. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node, Pod } from '../kube/resources.ts'
import { Pod as PodResource } from '../kube/resources.ts'
import type { Client } from '../kube/client.ts'
import { type Demand, devicesOf, fittingNodes, roomIn } from '../plan/pod/devices.ts'
import { Caches, createLogger, RuntimeMetrics, systemClock } from '../runtime/index.ts'
import { gatherDevices } from './gather-devices.ts'
import { nodeCache, nodeIndex } from './node-cache.ts'
import { trimmedPod } from './trimmed-pod.ts'

const GPU = 'nvidia.com/gpu'

const pod = (name: string, nodeName: string, gpus: number, phase = 'Running'): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'a', uid: name },
  spec: { nodeName, containers: [{ name: 'main', resources: { limits: { [GPU]: String(gpus), cpu: '1' } } }] },
  status: { phase },
})

const node = (name: string, gpus: number, more: object = {}): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, uid: name },
  status: { allocatable: { [GPU]: String(gpus), cpu: '8' }, conditions: [{ type: 'Ready', status: 'True' }] },
  ...more,
})

const demand = (gpus: number, pods = 1): Demand => {
  const spec = { containers: [{ name: 'server', resources: { limits: { [GPU]: gpus } } }] } as never
  return { devices: devicesOf(spec), spec, pods }
}

interface World {
  readonly nodes: readonly Node[]
  readonly ours?: readonly Pod[]
  readonly foreign?: readonly Pod[]
  readonly isForbidden?: true
}

async function gathered({ nodes, ours = [], foreign = [], isForbidden }: World, wanted: Demand) {
  const log = createLogger({ level: 'error' })
  const caches = new Caches({ client: {} as Client, log, metrics: new RuntimeMetrics(systemClock) })
  const sources = {
    nodes: nodeCache(caches),
    pods: [caches.of(PodResource, { indexes: nodeIndex, trim: trimmedPod })],
  }
  await sources.nodes.follow(async function* updates() {
    yield { type: 'replace', items: nodes, resourceVersion: '1' } as const
  })
  await sources.pods[0]?.follow(async function* updates() {
    yield { type: 'replace', items: ours, resourceVersion: '1' } as const
  })
  const reads: string[] = []
  const readNodePods = (name: string): Promise<readonly Pod[] | undefined> => {
    reads.push(name)
    const there = [...ours, ...foreign].filter(({ spec }) => spec?.nodeName === name)
    return Promise.resolve(isForbidden ? undefined : there)
  }
  const found = await gatherDevices([wanted], { ...sources, readNodePods })
  return { room: roomIn(fittingNodes(wanted, found), wanted), reads }
}

const cordoned = { spec: { unschedulable: true } }
const lost = { status: { allocatable: { [GPU]: '8' }, conditions: [{ type: 'Ready', status: 'Unknown' }] } }
const tainted = { spec: { taints: [{ key: 'spot', effect: 'NoSchedule' }] } }

const table: readonly [string, World, Demand, { room: number; reads: string[] }][] = [
  ['nodes without GPUs', { nodes: [node('n', 0)] }, demand(1), { room: 0, reads: [] }],
  ['our own pods hold all', { nodes: [node('n', 2)], ours: [pod('a', 'n', 2)] }, demand(1), { room: 0, reads: [] }],
  ['a node is too small', { nodes: [node('n', 2)] }, demand(4), { room: 0, reads: [] }],
  [
    'nodes that take no such pod',
    { nodes: [node('a', 8, cordoned), node('b', 8, lost), node('c', 8, tainted)] },
    demand(1),
    { room: 0, reads: [] },
  ],
  [
    'others hold the rest',
    { nodes: [node('n', 2)], foreign: [pod('x', 'n', 2)] },
    demand(1),
    { room: 0, reads: ['n'] },
  ],
  [
    'pods that ended hold nothing',
    { nodes: [node('n', 1)], ours: [pod('a', 'n', 1, 'Succeeded')], foreign: [pod('x', 'n', 1, 'Failed')] },
    demand(1),
    { room: 1, reads: ['n'] },
  ],
  [
    'the node with most room first, and no more than needed',
    { nodes: [node('small', 2), node('large', 8), node('other', 4)], foreign: [pod('x', 'large', 4)] },
    demand(2),
    { room: 5, reads: ['large'] },
  ],
  [
    'until there is room for all pods',
    { nodes: [node('a', 1), node('b', 1), node('c', 1)], foreign: [pod('x', 'a', 1)] },
    demand(1, 2),
    { room: 2, reads: ['a', 'b', 'c'] },
  ],
  [
    'a read that fails: as it seems',
    { nodes: [node('n', 1)], isForbidden: true },
    demand(1),
    { room: 1, reads: ['n'] },
  ],
]

for (const [name, world, wanted, expected] of table)
  test(name, async () => assert.deepEqual(await gathered(world, wanted), expected))

test('at most sixteen nodes are read', async () => {
  const nodes = Array.from({ length: 40 }, (_, index) => node(`n-${index}`, 1))
  const foreign = nodes.map(({ metadata }) => pod(`x-${metadata.name}`, metadata.name, 1))
  const { reads } = await gathered({ nodes, foreign }, demand(1))
  assert.equal(reads.length, 16)
})
