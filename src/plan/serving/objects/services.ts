/**
 * The Services of a model: one for each version, and the one that clients use. They target the port by name, so pods with
 * an old and a new port number serve side by side while a changed port rolls out.
 */
import { Service } from '../../../kube/resources.ts'
import { child } from './child.ts'
import { HTTP_PORT_NAME, previewName, serverLabels, serviceName, versionedName } from '../../model-names.ts'
import type { ServedModel } from '../observe/served-model.ts'

/** `port`: for clients and routes, independent of the port that the pods listen on. */
export function versionService(model: ServedModel, version: string, port: number): Service {
  return {
    ...child(model, Service, versionedName(model, version), { component: 'server', version }),
    spec: {
      type: 'ClusterIP',
      selector: serverLabels(model, version),
      ports: portsOf(port),
    },
  }
}

/** Leads testers to a new version, by a name that does not change with the version. */
export function previewService(model: ServedModel, version: string, port: number): Service {
  return {
    ...child(model, Service, previewName(model), { component: 'traffic' }),
    spec: { type: 'ClusterIP', selector: serverLabels(model, version), ports: portsOf(port) },
  }
}

/** Where requests enter. The traffic provider decides the selector. */
export interface Entrance {
  readonly selector: Readonly<Record<string, string>>
  readonly port: number
}

export function modelService(model: ServedModel, { selector, port }: Entrance): Service {
  return {
    ...child(model, Service, serviceName(model), { component: 'traffic' }),
    spec: {
      type: 'ClusterIP',
      selector: { ...selector },
      ports: portsOf(port),
    },
  }
}

const portsOf = (port: number) => [{ name: HTTP_PORT_NAME, port, targetPort: HTTP_PORT_NAME, protocol: 'TCP' as const }]
