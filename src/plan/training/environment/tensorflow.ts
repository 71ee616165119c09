/**
 * TensorFlow: `TF_CONFIG`, the cluster and the task of this process. The evaluator looks at the checkpoints of the others and
 * is not part of their cluster. A process that is alone needs no cluster.
 */
import { rolesOf, seatsOf } from '../attempt.ts'
import { WORKER } from '../names.ts'
import { type Environment, hostsOf, type Placement } from './placement.ts'
import { variable } from './variable.ts'

export const tensorflow: Environment = (placement) => {
  if (seatsOf(placement.job, placement.attempt).length === 1) return []
  // The index may be a reference that Kubernetes resolves, so it is put in as it is, not as JSON text.
  const task = `{"type":"${placement.role}","index":${placement.index}}`
  return variable('TF_CONFIG', `{"cluster":${JSON.stringify(clusterOf(placement))},"task":${task}}`)
}

function clusterOf(placement: Placement): Record<string, string[]> {
  const { job, attempt } = placement
  const { masterPort } = job.spec.networking
  const members = rolesOf(job.spec).filter(({ name }) => name !== 'evaluator')
  const counts = [
    ...members.map(({ name, replicas }) => [name, replicas] as const),
    [WORKER, attempt.worldSize] as const,
  ]
  return Object.fromEntries(
    counts.map(([role, count]) => [role, hostsOf(placement, role, count).map((host) => `${host}:${masterPort}`)]),
  )
}
