/**
 * S9: how pods with devices are replaced. Without surge only as recorded before; with surge only into room, or as recorded; and
 * not otherwise before all of them are replaced.
 */
import assert from 'node:assert/strict'
import type { Deployment } from '../../src/kube/resources.ts'
import { VERSION_LABEL } from '../../src/plan/model-names.ts'
import { type Demand, type DeviceNode, devicesOf, fittingNodes, roomIn } from '../../src/plan/pod/devices.ts'
import { TEMPLATE_ANNOTATION } from '../../src/plan/serving/objects/deployment.ts'
import type { ServingCluster } from './serving-cluster.ts'

export class SurgeOracle {
  /** As the operator observed them for its present pass. */
  nodes: readonly DeviceNode[] | undefined

  check({ model }: ServingCluster, written: Deployment, before: Deployment): void {
    const [from, to] = [before, written].map(({ metadata }) => metadata.annotations?.[TEMPLATE_ANNOTATION])
    if (from === undefined || to === undefined) return
    const name = written.metadata.labels?.[VERSION_LABEL]
    const surge = surgeOf(written)
    const record = model.status?.activeVersions?.find((one) => one.name === name)?.rollingUpdate
    if (from === to) assert.ok(surge === surgeOf(before) || isOver(before), `S9: ${name} is replaced otherwise midway`)
    else if (record?.template === to) assert.equal(surge, record.maxSurge, `S9: ${name} is replaced as recorded`)
    else assert.ok(surge === 1 && this.#hasRoom(written, before), `S9: ${name} is replaced with surge ${surge}`)
  }

  #hasRoom({ spec }: Deployment, before: Deployment): boolean {
    const pod = spec?.template.spec
    if (!pod || !this.nodes || (before.spec?.replicas ?? 1) === 0) return true
    const demand: Demand = { devices: devicesOf(pod), spec: pod, pods: 1 }
    return roomIn(fittingNodes(demand, this.nodes), demand) > 0
  }
}

const surgeOf = ({ spec }: Deployment): number => Number(spec?.strategy?.rollingUpdate?.maxSurge)

function isOver({ metadata, spec, status }: Deployment): boolean {
  const pods = spec?.replicas ?? 1
  const isObserved = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0)
  return isObserved && (status?.updatedReplicas ?? 0) >= pods && (status?.availableReplicas ?? 0) >= pods
}
