/** The cache of nodes. The training and the serving controllers share it: the one that is added first creates it. */
import { apiVersionOf } from '../kube/object.ts'
import { Node, type Pod } from '../kube/resources.ts'
import { isDevice } from '../plan/pod/gpu-environment.ts'
import type { Cache, Caches } from '../runtime/index.ts'

/** Index of pods by their node. */
export const NODE = 'node'

export const nodeIndex = {
  [NODE]: ({ spec }: Pod): string[] => (spec?.nodeName === undefined ? [] : [spec.nodeName]),
}

export function nodeCache(caches: Caches): Cache<Node> {
  const [known] = caches.ofKind({ apiVersion: apiVersionOf(Node), kind: Node.kind })
  return known ? caches.of(Node) : caches.of(Node, { trim: trimmedNode })
}

/** Readiness and its time, what decides which pods match the node, and its devices. Heartbeats change nothing in it. */
function trimmedNode({ apiVersion, kind, metadata, spec, status }: Node): Node {
  const { name, uid, resourceVersion, deletionTimestamp, labels } = metadata
  const { unschedulable, taints } = spec ?? {}
  const conditions = status?.conditions
    ?.filter(({ type }) => type === 'Ready')
    .map(({ type, status: is, lastTransitionTime }) => ({ type, status: is, lastTransitionTime }))
  const devices = Object.entries(status?.allocatable ?? {}).filter(([resource]) => isDevice(resource))
  const lean = {
    apiVersion,
    kind,
    metadata: { name, uid, resourceVersion, deletionTimestamp, labels },
    ...((unschedulable || taints) && { spec: { unschedulable, taints } }),
    status: { conditions, ...(devices.length > 0 && { allocatable: Object.fromEntries(devices) }) },
  }
  return lean as Node
}
