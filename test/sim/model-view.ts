/** A model as the steps of the planner see it, written by hand: for tables. */
import type { VersionRates } from '../../src/api/router-report.ts'
import type { ModelServer } from '../../src/api/modelserver.v1.ts'
import type { Deployment, HorizontalPodAutoscaler, Service } from '../../src/kube/resources.ts'
import { REPLICAS_ANNOTATION } from '../../src/plan/serving/objects/deployment.ts'
import type { ServingObserved } from '../../src/plan/serving/observe/observed.ts'
import { servedModel, serverOf } from '../../src/plan/serving/observe/served-model.ts'
import { type ModelView, viewOf } from '../../src/plan/serving/observe/view.ts'
import { courseOf } from '../../src/plan/serving/rollout/course.ts'
import { providerState } from '../../src/plan/serving/steps/provider-state.ts'
import { MODEL_UID_LABEL, serverLabels, VERSION_LABEL, versionedName } from '../../src/plan/model-names.ts'
import { kindName, type ProviderName, providers, type TrafficObserved } from '../../src/plan/traffic/index.ts'
import { withPods } from '../contracts/traffic-provider.ts'
import { worlds } from '../contracts/traffic-worlds.ts'
import { MODEL_UID, modelDeployment, ServingCluster, version } from './serving-cluster.ts'

export const NOW = Date.parse('2026-01-01T00:00:00Z')

/** A time so many seconds from `NOW`, as Kubernetes writes it. */
export const at = (seconds: number): string => `${new Date(NOW + seconds * 1000).toISOString().slice(0, 19)}Z`

export interface VersionSeen {
  /** Percent in the spec. Absent: the spec does not have it. */
  readonly weight?: number
  /** `spec.replicas` of its Deployment; 1 if it has one. */
  readonly replicas?: number
  /** Available pods. Absent: it has no Deployment. */
  readonly available?: number
  /** The number of pods that the operator set last. */
  readonly set?: number
  readonly scaling?: object
  /** Its entry in the status. */
  readonly recorded?: object
}

export interface Seen {
  readonly versions: Readonly<Record<string, VersionSeen>>
  /** `spec.traffic`. */
  readonly traffic?: object
  /** More of the spec. */
  readonly spec?: object
  /** `status.traffic`. */
  readonly recorded?: object
  /** More of the status. */
  readonly status?: object
  /** What the model's Service leads to: a version, a provider, or nothing yet. */
  readonly leadsTo?: string
  /** Names of the providers whose kinds the cluster serves. */
  readonly offers?: readonly string[]
  /** Providers that are settled, and the weights that are in effect. */
  readonly inEffect?: Readonly<Partial<Record<ProviderName, Readonly<Record<string, number>>>>>
  /** Metric APIs of the cluster. */
  readonly metricApis?: readonly string[]
  /** Live traffic by version. */
  readonly rates?: Readonly<Record<string, VersionRates>>
  /** Versions with a HorizontalPodAutoscaler. */
  readonly autoscalers?: readonly string[]
}

export function observedOf(seen: Seen): ServingObserved {
  const { versions, traffic = {}, spec = {}, recorded, status = {}, offers = [], metricApis, rates } = seen
  const all = Object.entries(versions)
  const wanted = all.filter(([, { weight }]) => weight !== undefined)
  const active = all.flatMap(([name, one]) => (one.recorded ? [{ name, ...one.recorded }] : []))
  const model = modelDeployment({
    versions: wanted.map(([name, { weight = 0, scaling }]) => version(name, weight, scaling ? { scaling } : {})),
    traffic,
    ...spec,
  })
  const empty = new ServingCluster(
    () => ({ writes: [], deletions: [], events: [] }),
    () => undefined,
  ).observed
  const kinds = offers.flatMap((name) => providers.of(name as ProviderName).kinds)
  return {
    ...empty,
    now: NOW,
    model: {
      ...model,
      status: { activeVersions: active, ...(recorded && { traffic: recorded }), ...status },
    } as ServingObserved['model'],
    deployments: all.flatMap(([name, one]) => (one.available === undefined ? [] : [deploymentOf(name, one)])),
    servedKinds: new Set(kinds.map(({ resource }) => kindName(resource))),
    autoscalers: (seen.autoscalers ?? []).map(autoscalerOf),
    ...(metricApis && { metricApis: new Set(metricApis) }),
    ...(rates && { rates: new Map(Object.entries(rates)) }),
  }
}

const autoscalerOf = (name: string): HorizontalPodAutoscaler => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: { name: versionedName({ metadata: { name: 'iris', uid: MODEL_UID } }, name) },
})

function deploymentOf(name: string, { replicas = 1, available = 0, set }: VersionSeen): Deployment {
  const owner = { metadata: { name: 'iris', uid: MODEL_UID } }
  const annotations = set === undefined ? {} : { annotations: { [REPLICAS_ANNOTATION]: String(set) } }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: versionedName(owner, name), labels: { [VERSION_LABEL]: name }, generation: 1, ...annotations },
    spec: { replicas, selector: { matchLabels: serverLabels(owner, name) }, template: {} },
    status: { replicas, updatedReplicas: replicas, availableReplicas: available, observedGeneration: 1 },
  }
}

export function viewOfModel(seen: Seen): ModelView {
  const observed = observedOf(seen)
  const services = serviceOf(seen, viewIn(observed))
  const routes = Object.entries(seen.inEffect ?? {}).map(([name, weights]) =>
    settled(viewIn(observed), name as ProviderName, new Map(Object.entries(weights))),
  )
  const traffic = {
    routes: routes.flatMap((one) => one.routes),
    proxies: routes.flatMap((one) => one.proxies),
    reports: new Map(routes.flatMap((one) => [...one.reports])),
  }
  return viewIn({ ...observed, services, traffic })
}

function viewIn(observed: ServingObserved, server?: ModelServer): ModelView {
  const found = serverOf(observed.model, server, observed.config.runtimes)
  if (!found) throw new Error('the model has no runtime')
  return viewOf(observed, courseOf(observed, servedModel(observed.model, found)), providers)
}

const splitIn = (view: ModelView, weights: ReadonlyMap<string, number>) => ({
  versions: view.versions,
  weights,
  primary: [...weights.keys()][0] ?? '',
})

function settled(view: ModelView, name: ProviderName, weights: ReadonlyMap<string, number>): TrafficObserved {
  const provider = providers.of(name)
  const { target } = providerState(view, provider, splitIn(view, weights))
  return worlds[name].settled(provider.render(target, withPods(provider, 'iris')), target)
}

function serviceOf({ leadsTo, versions }: Seen, view: ModelView): Service[] {
  if (leadsTo === undefined) return []
  const isVersion = Object.hasOwn(versions, leadsTo)
  const provider = providers.of(isVersion ? 'direct' : (leadsTo as ProviderName))
  const { rendered } = providerState(view, provider, splitIn(view, new Map([[leadsTo, 100]])))
  const metadata = { name: 'iris-service', labels: { [MODEL_UID_LABEL]: MODEL_UID } }
  return [{ apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: { ...rendered.selector } } }]
}
