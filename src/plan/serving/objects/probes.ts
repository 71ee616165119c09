/** The probes of a server. Kubernetes does not expand variables in probes, so the model's name is filled in here. */
import type { Pod } from '../../../kube/resources.ts'
import { HTTP_PORT_NAME } from '../../model-names.ts'
import type { Probe } from '../runtimes/probe.ts'
import type { ServedModel } from '../observe/served-model.ts'

type Container = NonNullable<Pod['spec']>['containers'][number]
type Probed = Pick<Container, 'startupProbe' | 'readinessProbe' | 'livenessProbe'>

/** The defaults of the spec. They do not override the probes of a runtime; every other value does. */
const DEFAULTS = { endpoint: '/health', intervalSeconds: 30, timeoutSeconds: 5, failureThreshold: 3 } as const

export function probesOf(model: ServedModel): Probed {
  const { startup, readiness, liveness } = model.server.probes ?? {}
  const probe = (wanted: Probe) => probeOf(model, wanted)
  return {
    ...(startup && { startupProbe: probe(startup) }),
    ...(readiness && { readinessProbe: probe(asked(model, readiness)) }),
    ...(liveness && { livenessProbe: probe(liveness) }),
  }
}

/** The health check of the spec overrides the readiness probe of the runtime, field by field. */
function asked({ check }: ServedModel, readiness: Probe): Probe {
  if (check === undefined) return readiness
  const { endpoint, intervalSeconds, timeoutSeconds, failureThreshold } = check
  const { command: _, ...rest } = readiness
  return {
    ...(endpoint === DEFAULTS.endpoint ? readiness : { ...rest, path: endpoint, timeoutSeconds }),
    ...(intervalSeconds !== DEFAULTS.intervalSeconds && { periodSeconds: intervalSeconds }),
    ...(timeoutSeconds !== DEFAULTS.timeoutSeconds && { timeoutSeconds }),
    ...(failureThreshold !== DEFAULTS.failureThreshold && { failureThreshold }),
  }
}

function probeOf(model: ServedModel, { path, command, ...times }: Probe): NonNullable<Container['readinessProbe']> {
  if (command) return { exec: { command: [...command] }, ...times }
  return { httpGet: { path: path.replaceAll('$(MODEL_NAME)', model.modelName), port: HTTP_PORT_NAME }, ...times }
}
