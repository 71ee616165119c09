/** Objects of a model as the oracles of the crash tests observe them. Each call gives the next resourceVersion. */
import { ROUTE_ANNOTATION } from '../../src/api/router-report.ts'
import type { KubeObject, Resource } from '../../src/kube/object.ts'
import { MODEL_UID_LABEL, ROLE_LABEL, VERSION_LABEL } from '../../src/plan/model-names.ts'
import { servingOracles } from '../crash/oracles/serving-oracles.ts'
import type { ObservedChange, ClusterView } from '../crash/oracles/oracle.ts'

let versions = 100

export const nextVersion = (): string => String(versions++)

interface ObjectOptions {
  readonly namespace?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly generation?: number
  readonly orphan?: boolean
}

export function object(
  kind: string,
  name: string,
  { orphan, labels, ...rest }: ObjectOptions,
  more: object = {},
): KubeObject {
  const owner = { apiVersion: 'v1', kind: 'Owner', name: 'm', uid: 'm', controller: true }
  const metadata = {
    name,
    uid: name,
    resourceVersion: nextVersion(),
    labels: { [MODEL_UID_LABEL]: 'm', ...labels },
    ...(orphan ? {} : { ownerReferences: [owner] }),
    ...rest,
  }
  return { apiVersion: 'v1', kind, metadata, ...more }
}

const readiness = (status: string) => ({ status: { conditions: [{ type: 'Ready', status }] } })
export const server = (version: string, isReady = true): KubeObject =>
  object(
    'Pod',
    `server-${version}`,
    { labels: { [ROLE_LABEL]: 'server', [VERSION_LABEL]: version } },
    readiness(isReady ? 'True' : 'False'),
  )

export function router(weights: Readonly<Record<string, number>>, namespace = 'nowhere'): KubeObject {
  const route = Object.entries(weights).map(([version, weight]) => ({ version, weight, address: `${version}:80` }))
  const annotations = { [ROUTE_ANNOTATION]: JSON.stringify(route) }
  return object('Pod', 'router', { namespace, annotations, labels: { [ROLE_LABEL]: 'router' } })
}

export const deployment = (version: string, availableReplicas = 1, namespace = 'nowhere', replicas = 1): KubeObject =>
  object(
    'Deployment',
    `m-${version}`,
    { namespace, labels: { [VERSION_LABEL]: version } },
    { spec: { replicas }, status: { availableReplicas } },
  )

export const service = (version: string): KubeObject =>
  object('Service', `service-${version}`, { labels: { [VERSION_LABEL]: version } })

export type Weights = Readonly<Record<string, number>>

export function virtualService(weights: Weights): KubeObject {
  const route = Object.entries(weights).map(([subset, weight]) => ({ destination: { host: 'm', subset }, weight }))
  return object('VirtualService', 'm-vs', {}, { spec: { hosts: ['m'], http: [{ route }] } })
}

export const destinationRule = (...subsets: readonly string[]): KubeObject =>
  object('DestinationRule', 'm-dr', {}, { spec: { host: 'm', subsets: subsets.map((name) => ({ name, labels: {} })) } })

/** A route of this `generation`. The Gateway has accepted generation `accepted`. */
export function httpRoute(weights: Weights, generation = 1, accepted = generation): KubeObject {
  const backendRefs = Object.entries(weights).map(([version, weight]) => ({ name: `m-${version}`, weight }))
  const parents = [{ parentRef: { name: 'public' }, conditions: [{ type: 'Accepted', observedGeneration: accepted }] }]
  const { metadata, ...rest } = object('HTTPRoute', 'route', { generation })
  return {
    ...rest,
    metadata: { ...metadata, name: 'm' },
    spec: { rules: [{ backendRefs }] },
    status: { parents },
  } as KubeObject
}

/** Versions that run. */
export const running = (...names: readonly string[]) =>
  names.flatMap((name) => [server(name), service(name), deployment(name)].map((one) => ['created', one] as const))

export const model = (status: object, generation = 1, spec: object = {}): KubeObject => {
  const { metadata, ...rest } = object('ModelDeployment', 'm', { generation })
  return { ...rest, metadata: { ...metadata, labels: {} }, spec, status } as KubeObject
}

/** Passes a history to the oracles of a model. Returns the names of those that are violated. */
export function violated(...history: readonly (readonly [ObservedChange['type'], KubeObject])[]): string[] {
  const objects = new Map<string, KubeObject>()
  const list = <T extends KubeObject>({ kind }: Resource<T>): readonly T[] =>
    [...objects.values()].filter((one) => one.kind === kind) as T[]
  const cluster: ClusterView = { all: () => [...objects.values()], list }
  const oracles = servingOracles()
  const found: string[] = []
  for (const [type, current] of history) {
    const { uid = '' } = current.metadata
    const previous = objects.get(uid)
    if (type === 'deleted') objects.delete(uid)
    else objects.set(uid, current)
    for (const { name, onChange } of oracles)
      if (onChange?.({ type, object: current, ...(previous && { previous }) }, cluster) !== undefined) found.push(name)
  }
  for (const { name, atRest } of oracles) found.push(...(atRest?.(cluster) ?? []).map(() => name))
  return found
}
