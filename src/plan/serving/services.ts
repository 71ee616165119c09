/** The Services of a model: one for each version, and the one that clients know. */
import { Service } from '../../kube/resources.ts'
import { child } from './child.ts'
import { serverLabels, serviceName, VERSION_LABEL, versionedName } from '../model-names.ts'
import type { ServedModel } from './served-model.ts'

export function versionService(model: ServedModel, version: string): Service {
  return {
    ...child(model, Service, versionedName(model, version), { [VERSION_LABEL]: version }),
    spec: {
      type: 'ClusterIP',
      selector: serverLabels(model, version),
      ports: [{ name: 'http', port: model.server.port, targetPort: model.server.port, protocol: 'TCP' }],
    },
  }
}

/** Where traffic enters: what it leads to is decided by how traffic is divided. */
export interface Entrance {
  readonly selector: Readonly<Record<string, string>>
  readonly targetPort: number
}

export function modelService(model: ServedModel, { selector, targetPort }: Entrance): Service {
  return {
    ...child(model, Service, serviceName(model)),
    spec: {
      type: 'ClusterIP',
      selector: { ...selector },
      ports: [{ name: 'http', port: model.server.port, targetPort, protocol: 'TCP' }],
    },
  }
}
