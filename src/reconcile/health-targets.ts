/**
 * Which pods of a model the operator checks, and how: by the port and path of the readiness probe that the pod itself has, which is
 * `healthCheck.endpoint` or the path of the runtime, at the interval of the spec. Only the port and the path are read from the
 * probe, never a host or headers. Without an HTTP probe there is nothing to call.
 */
import type { ModelDeploymentSpec } from '../api/modeldeployment.v1.ts'
import type { HealthTarget } from '../integrations/health-checks.ts'
import type { Pod } from '../kube/resources.ts'
import { ROLE_LABEL } from '../plan/model-names.ts'
import { FAILURE_THRESHOLD, hasBeenReadySinceStart, type Model, SERVER_CONTAINER } from '../plan/serving/index.ts'

type Check = Pick<HealthTarget, 'intervalMs' | 'timeoutMs' | 'threshold'>

/** A longer interval or timeout of the spec is shortened: connections are not kept open for longer. */
const MAX_INTERVAL_SECONDS = 3_600
const MAX_TIMEOUT_SECONDS = 60

/** Models of mlops.sathvik.dev have the defaults. */
const NONE: Partial<ModelDeploymentSpec['healthCheck']> = {}

export function healthTargets({ spec }: Model, pods: readonly Pod[]): HealthTarget[] {
  const { healthCheck } = spec as Partial<ModelDeploymentSpec>
  const { intervalSeconds = 30, timeoutSeconds = 5, failureThreshold = FAILURE_THRESHOLD } = healthCheck ?? NONE
  const check: Check = {
    intervalMs: Math.min(intervalSeconds, MAX_INTERVAL_SECONDS) * 1_000,
    timeoutMs: Math.min(timeoutSeconds, MAX_TIMEOUT_SECONDS) * 1_000,
    threshold: failureThreshold,
  }
  return pods.filter(isChecked).flatMap((pod) => targetOf(pod, check) ?? [])
}

/** A pod on the network of its node is not checked: its address is that of the node. */
function isChecked(pod: Pod): boolean {
  const { metadata, status } = pod
  return (
    metadata.labels?.[ROLE_LABEL] === 'server' &&
    metadata.deletionTimestamp === undefined &&
    status?.podIP !== undefined &&
    status.podIP !== status.hostIP &&
    hasBeenReadySinceStart(pod, SERVER_CONTAINER)
  )
}

function targetOf({ metadata: { uid }, spec, status }: Pod, check: Check): HealthTarget | undefined {
  const server = spec?.containers.find(({ name }) => name === SERVER_CONTAINER)
  const called = server && calledOf(server)
  const { podIP: address } = status ?? {}
  return called && uid !== undefined && address !== undefined ? { uid, address, ...called, ...check } : undefined
}

type Container = NonNullable<Pod['spec']>['containers'][number]

function calledOf({ readinessProbe, ports = [] }: Container): Pick<HealthTarget, 'port' | 'path'> | undefined {
  const { path, port: wanted, scheme = 'HTTP' } = readinessProbe?.httpGet ?? {}
  const port = typeof wanted === 'number' ? wanted : ports.find(({ name }) => name === wanted)?.containerPort
  return path !== undefined && port !== undefined && scheme === 'HTTP' ? { path, port } : undefined
}
