/** The probes of a server. Kubernetes expands no variables in them, so the name of the model is put in here. */
import type { Pod } from '../../kube/resources.ts'
import type { Probe } from './runtimes/probe.ts'
import type { ServedModel } from './served-model.ts'

type Container = NonNullable<Pod['spec']>['containers'][number]
type Probed = Pick<Container, 'startupProbe' | 'readinessProbe' | 'livenessProbe'>

/** What every spec has unless it says otherwise: it says nothing about a runtime that has probes of its own. */
const DEFAULT_ENDPOINT = '/health'

export function probesOf(model: ServedModel): Probed {
  const { startup, readiness, liveness } = model.server.probes ?? {}
  const probe = (wanted: Probe) => probeOf(model, wanted)
  return {
    ...(startup && { startupProbe: probe(startup) }),
    ...(readiness && { readinessProbe: probe(asked(model, readiness)) }),
    ...(liveness && { livenessProbe: probe(liveness) }),
  }
}

/** An endpoint that the model names decides about its traffic, whatever the runtime would ask. */
function asked({ check }: ServedModel, readiness: Probe): Probe {
  if (check === undefined || check.endpoint === DEFAULT_ENDPOINT) return readiness
  const { command: _, ...rest } = readiness
  return { ...rest, path: check.endpoint, timeoutSeconds: check.timeoutSeconds }
}

function probeOf(model: ServedModel, { path, command, ...times }: Probe): NonNullable<Container['readinessProbe']> {
  if (command) return { exec: { command: [...command] }, ...times }
  return { httpGet: { path: path.replaceAll('$(MODEL_NAME)', model.modelName), port: 'http' }, ...times }
}
