/** How a cluster takes up what each built-in provider renders. */
import { entriesOf, ROUTE_ANNOTATION, type RouteEntry } from '../../src/api/router-report.ts'
import type { KubeObject } from '../../src/kube/object.ts'
import type { Deployment } from '../../src/kube/resources.ts'
import { VERSION_LABEL } from '../../src/plan/model-names.ts'
import {
  type ProviderName,
  providers,
  type Rendered,
  type TrafficObserved,
  type TrafficTarget,
} from '../../src/plan/traffic/index.ts'
import { backendsOf, type HTTPRoute } from '../../src/plan/traffic/providers/gateway/kinds.ts'
import { destinationsOf, type VirtualService } from '../../src/plan/traffic/providers/istio/kinds.ts'
import { NOTHING, proxyPod, serviceWith, soleTargets, type World } from './traffic-provider.ts'

const PODS = 100

const stored = (object: KubeObject, generation = 1): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, generation, uid: object.metadata.name },
})

/** The rendered object of a kind. */
export const rendered = ({ apply }: Rendered, name: string): KubeObject | undefined =>
  apply.find((object) => object.kind === name)

/** A route from which a user removed all destinations, as the CRDs allow. */
function emptied(observed: TrafficObserved, name: string, left: object): TrafficObserved {
  const without = (object: KubeObject): KubeObject => {
    const { spec } = object as KubeObject & { readonly spec: object }
    return {
      ...object,
      spec: { ...spec, http: undefined, subsets: undefined, rules: undefined, ...left },
    } as KubeObject
  }
  return { ...observed, routes: observed.routes.map((route) => (route.kind === name ? without(route) : route)) }
}

function direct(): World {
  return {
    targets: soleTargets,
    unseen: new Map(),
    asked: ({ selector }) => new Map([[selector[VERSION_LABEL] ?? '', 100]]),
    settled: (objects) => ({ ...NOTHING, service: serviceWith(objects) }),
    converging: () => [],
  }
}

function istio(): World {
  const settled = ({ apply }: Rendered): TrafficObserved => ({
    ...NOTHING,
    routes: apply.map((route) => stored(route)),
  })
  const only = ({ apply }: Rendered, kind: string): TrafficObserved => ({
    ...NOTHING,
    routes: apply.filter((route) => route.kind === kind).map((route) => stored(route)),
  })
  return {
    asked: (objects) =>
      new Map(
        destinationsOf(rendered(objects, 'VirtualService') as VirtualService).map(
          ({ destination, weight = 0 }) => [destination.subset ?? '', weight] as const,
        ),
      ),
    settled,
    converging: (objects) => [
      only(objects, 'VirtualService'),
      only(objects, 'DestinationRule'),
      {
        ...NOTHING,
        routes: objects.apply.map((route) => ({ ...stored(route, 2), status: { observedGeneration: '1' } })),
      },
      emptied(settled(objects), 'VirtualService', {}),
      emptied(settled(objects), 'VirtualService', { http: [{}] }),
      emptied(settled(objects), 'DestinationRule', {}),
    ],
  }
}

function gateway(): World {
  const answered = (
    { apply }: Rendered,
    observedGeneration: number,
    status = 'True',
    types = ['Accepted', 'ResolvedRefs'],
  ) => ({
    ...NOTHING,
    routes: apply.map((object) => {
      const route = object as HTTPRoute
      const conditions = types.map((type) => ({ type, status, observedGeneration }))
      return {
        ...stored(route, 2),
        status: { parents: route.spec.parentRefs?.map((parentRef) => ({ parentRef, conditions })) },
      }
    }),
  })
  return {
    asked: (objects, { backends }) => {
      const versions = new Map(backends.map(({ service, version }) => [service, version]))
      const backendRefs = backendsOf(rendered(objects, 'HTTPRoute') as HTTPRoute)
      return new Map(backendRefs.map(({ name, weight }) => [versions.get(name) ?? name, weight] as const))
    },
    settled: (objects) => answered(objects, 2),
    converging: (objects) => [
      { ...NOTHING, routes: objects.apply.map((route) => stored(route)) },
      answered(objects, 1),
      answered(objects, 2, 'False'),
      answered(objects, 2, 'True', ['Accepted']),
      emptied(answered(objects, 2), 'HTTPRoute', {}),
      emptied(answered(objects, 2), 'HTTPRoute', { rules: [{}] }),
    ],
  }
}

const routeIn = ({ annotate }: Rendered): readonly RouteEntry[] =>
  entriesOf(annotate[0]?.annotations[ROUTE_ANNOTATION] ?? '[]')

function router(): World {
  const pods = [proxyPod('a'), proxyPod('b')]
  const report = (route: readonly RouteEntry[]) => ({
    startedAt: 0,
    versions: route.map(({ version, weight }) => ({ version, weight, requests: 0, errors: 0, latencyMsSum: 0 })),
  })
  const deploymentIn = (objects: Rendered): Deployment => stored(rendered(objects, 'Deployment') as Deployment)
  const settled = (objects: Rendered): TrafficObserved => ({
    ...NOTHING,
    proxies: [{ deployment: deploymentIn(objects), pods }],
    reports: new Map(pods.map(({ metadata }) => [metadata.uid ?? '', report(routeIn(objects))])),
  })
  return {
    asked: (objects) => new Map(routeIn(objects).map(({ version, weight }) => [version, weight])),
    settled,
    converging: (objects) => {
      const done = settled(objects)
      const deployment = deploymentIn(objects)
      const other = report([{ version: 'before', address: 'x:1', weight: 100 }])
      const withPods = (some: typeof pods) => ({ proxies: [{ deployment, pods: some }] })
      return [
        { ...done, reports: new Map() },
        { ...done, reports: new Map([...done.reports].slice(1)) },
        { ...done, reports: new Map([...done.reports, ['b', other]]) },
        { ...done, reports: new Map([...done.reports, ['b', report([])]]) },
        {
          ...done,
          reports: new Map([...done.reports, ['b', other]]),
          ...withPods([proxyPod('a'), proxyPod('b', false)]),
        },
        { ...done, ...withPods(pods.map(({ metadata }) => proxyPod(metadata.name, false))) },
        { ...done, ...withPods([]) },
      ]
    },
  }
}

function replicas(): World {
  const counts = ({ wanted }: TrafficTarget) => providers.of('replicas').splitPods?.(wanted, PODS) ?? new Map()
  const server = (version: string, count: number, available = count, generation = 1): Deployment => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: version, generation, labels: { [VERSION_LABEL]: version } },
    spec: { replicas: count, selector: {}, template: {} },
    status: { replicas: count, availableReplicas: available, observedGeneration: 1 },
  })
  const servers = (target: TrafficTarget, missing: number, generation: number): TrafficObserved => ({
    ...NOTHING,
    servers: [...counts(target)].map(([version, count]) =>
      server(version, count, Math.max(0, count - missing), generation),
    ),
    available: counts(target),
  })
  return {
    asked: (_, target) => counts(target),
    settled: (_, target) => servers(target, 0, 1),
    converging: (_, target) => [servers(target, 1, 1), servers(target, 0, 2), NOTHING],
  }
}

export const worlds: Record<ProviderName, World> = {
  direct: direct(),
  istio: istio(),
  gateway: gateway(),
  router: router(),
  replicas: replicas(),
}
