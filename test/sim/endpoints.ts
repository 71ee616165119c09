/** Plays the controller of EndpointSlices: what the model's Service leads to, without delay. */
import { type KubeObject, nameWithKind } from '../../src/kube/object.ts'
import type { Deployment, EndpointSlice, Pod, Service } from '../../src/kube/resources.ts'

interface Cluster {
  readonly model: KubeObject
  readonly service?: Service | undefined
  readonly deployments: readonly Deployment[]
  /** By kind and name of the Deployment. */
  readonly workloads: ReadonlyMap<string, { readonly ready: number }>
  readonly routers: readonly { readonly pod: Pod }[]
}

export function endpointsOf(cluster: Cluster): EndpointSlice[] {
  const { deployments, workloads, routers, service, model } = cluster
  const selector = Object.entries(service?.spec?.selector ?? {})
  const isSelected = ({ labels }: Pick<KubeObject['metadata'], 'labels'> = {}): boolean =>
    selector.length > 0 && selector.every(([key, value]) => labels?.[key] === value)
  const isServing = deployments.some(
    (deployment) =>
      (workloads.get(nameWithKind(deployment))?.ready ?? 0) > 0 && isSelected(deployment.spec?.template.metadata),
  )
  const isRouting = routers.some(({ pod }) => pod.status?.conditions !== undefined && isSelected(pod.metadata))
  const endpoints = isServing || isRouting ? [{ addresses: ['10.0.0.1'], conditions: { ready: true } }] : []
  const metadata = { name: `${model.metadata.name}-service-1` }
  return [{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', addressType: 'IPv4', metadata, endpoints }]
}
