/**
 * A fake EndpointSlice controller that reports one ready endpoint for the Service of every model, because there are no pods.
 */
import type { Client } from '../../src/kube/client.ts'
import type { ClientConfig } from '../../src/kube/config.ts'
import { EndpointSlice, Service } from '../../src/kube/resources.ts'
import { MODEL_UID_LABEL, VERSION_LABEL } from '../../src/plan/model-names.ts'
import { controllerReference } from '../../src/runtime/index.ts'
import { type Driver, startDriver } from './driver.ts'

export function startEndpointsDriver(cluster: ClientConfig): Driver {
  const served = new Set<string>()
  return startDriver(cluster, {
    resource: Service,
    labelSelector: `${MODEL_UID_LABEL},!${VERSION_LABEL}`,
    act: (client, service) => {
      if (isNew(served, service)) serve(client, service)
    },
  })
}

function isNew(served: Set<string>, { metadata: { uid = '' } }: Service): boolean {
  if (served.has(uid)) return false
  served.add(uid)
  return true
}

function serve(client: Client, service: Service): void {
  const { name, namespace = '', labels = {} } = service.metadata
  const slice: EndpointSlice = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name,
      namespace,
      labels: { ...labels, 'kubernetes.io/service-name': name },
      ownerReferences: [controllerReference({ ...service, apiVersion: 'v1', kind: 'Service' })],
    },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['203.0.113.1'], conditions: { ready: true } }],
  }
  void client.create(EndpointSlice, slice).catch(() => undefined)
}
