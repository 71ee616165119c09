/**
 * TensorFlow: `TF_CONFIG` has the cluster and the task of the process. The evaluator reads the checkpoints of the others and
 * is not part of their cluster. A single process needs no cluster.
 */
import { type Variable, variable } from '../../pod/variable.ts'
import { WORKER } from '../names.ts'
import { DEFAULT_IMAGE, type Framework, PYTHON_SCRIPT } from './contract.ts'
import { hostsOf, type PodIdentity, sharedText } from './pod-identity.ts'

export const tensorflow: Framework = {
  defaultImage: DEFAULT_IMAGE,
  launch: { command: PYTHON_SCRIPT },
  environment,
  roles: { chief: { decidesSuccess: true, usesWorkerGpus: true }, ps: {}, evaluator: {} },
}

function environment(pod: PodIdentity): Variable[] {
  const { job, attempt } = pod
  const { roles = [] } = job.spec
  const processes = roles.reduce((sum, { replicas }) => sum + replicas, attempt.worldSize)
  if (processes === 1) return []
  // The index may be a reference that Kubernetes expands, so it is inserted as text, not as a JSON value.
  const task = `{"type":"${pod.role}","index":${pod.index}}`
  const cluster = sharedText(pod, 'cluster', () => JSON.stringify(clusterOf(pod)))
  return variable('TF_CONFIG', `{"cluster":${cluster},"task":${task}}`)
}

function clusterOf(pod: PodIdentity): Record<string, string[]> {
  const { networking, roles = [] } = pod.job.spec
  const sizes = [
    ...roles.filter(({ name }) => name !== 'evaluator').map(({ name, replicas }) => [name, replicas] as const),
    [WORKER, pod.attempt.worldSize] as const,
  ]
  return Object.fromEntries(
    sizes.map(([role, count]) => [role, hostsOf(pod, role, count).map((host) => `${host}:${networking.masterPort}`)]),
  )
}
