/** Every read that a pass over a model makes. All but the reports of proxies, and pods of others where GPUs are missing, come from memory. */
import type { ModelServer } from '../api/modelserver.v1.ts'
import type { HealthChecks } from '../integrations/health-checks.ts'
import type { MetricReader } from '../integrations/prometheus/metric-reader.ts'
import type { PrometheusConfig } from '../integrations/prometheus/prometheus-client.ts'
import type { TrafficRates } from '../integrations/router-rates.ts'
import type { ReadTrafficReports } from '../integrations/router-reports.ts'
import { keyOf, type KubeObject } from '../kube/object.ts'
import type { Deployment, EndpointSlice, Pod, Service } from '../kube/resources.ts'
import { serviceName } from '../plan/model-names.ts'
import {
  deviceDemands,
  type Measured,
  type Model,
  questionsOf,
  runtimeNameOf,
  type ServingConfig,
  type ServingObserved,
} from '../plan/serving/index.ts'
import { providers, type Proxy } from '../plan/traffic/index.ts'
import { type Cache, isControlledBy } from '../runtime/index.ts'
import { type DeviceSources, gatherDevices } from './gather-devices.ts'
import { healthTargets } from './health-targets.ts'
import type { MetricApis } from './metric-apis.ts'
import { leftovers, servedKinds, type ServingCaches } from './serving-caches.ts'
import { childrenOf, isPodOf, podsOf } from './serving-members.ts'

export type Rates = Pick<TrafficRates, 'note'>

/** Figures from Prometheus. */
export interface MetricSource {
  readonly reader: Pick<MetricReader, 'read' | 'onAnswer'>
  readonly config: Pick<PrometheusConfig, 'labels' | 'rateSeconds' | 'refreshSeconds' | 'namespaceLabel'>
}

export interface GatherServingDeps {
  readonly caches: ServingCaches
  readonly config: ServingConfig
  readonly now: number
  readonly readReports: ReadTrafficReports
  /** Remembers earlier reports. */
  readonly rates: Rates
  /** Absent: the operator makes no health checks. */
  readonly healthChecks?: Pick<HealthChecks, 'follow'>
  /** Absent: no version is scaled by its requests. */
  readonly metricApis?: Pick<MetricApis, 'read'>
  /** Absent: no Prometheus is configured. */
  readonly prometheus?: MetricSource
  readonly deviceSources: DeviceSources
}

export async function gatherServing(model: Model, deps: GatherServingDeps): Promise<ServingObserved> {
  const observed = await gatherModel(model, deps)
  const demands = deviceDemands(observed)
  return demands.length === 0 ? observed : { ...observed, devices: await gatherDevices(demands, deps.deviceSources) }
}

async function gatherModel(model: Model, deps: GatherServingDeps): Promise<ServingObserved> {
  const { caches, config, now } = deps
  const own = <T extends KubeObject>(cache: Cache<T>): T[] => childrenOf(model, cache)
  const { children } = caches
  const deployments = own(children.deployments)
  const jobs = own(children.jobs)
  const pods = podsOf(model, caches.pods, { deployments, jobs })
  const server = serverOf(model, caches)
  const proxies = proxiesOf(model, deployments, pods)
  const proxyPods = proxies.flatMap((proxy) => proxy.pods)
  const reports = proxyPods.length === 0 ? new Map<string, never>() : await deps.readReports(proxyPods)
  const rates = reports.size === 0 ? undefined : deps.rates.note(reports, now)
  const health = deps.healthChecks?.follow(healthKind(model), keyOf(model), healthTargets(model, pods))
  const measured = deps.prometheus && measuredOf(model, deployments, { ...deps, prometheus: deps.prometheus })
  const metricApis = await metricApisFor(proxies, deps)
  const services = own(children.services)
  const entrance = services.find(({ metadata }) => metadata.name === serviceName(model))
  return {
    model,
    now,
    config,
    ...(server && { server }),
    deployments,
    services,
    endpoints: entrance ? endpointsOf(entrance, caches) : [],
    autoscalers: own(children.autoscalers),
    budgets: own(children.budgets),
    configMaps: own(children.configMaps),
    claims: own(children.claims),
    jobs,
    pods,
    servedKinds: servedKinds(caches),
    ...(metricApis && { metricApis }),
    traffic: { routes: caches.routes.flatMap(own), proxies, reports },
    ...(rates && { rates }),
    ...(health && { health }),
    ...(measured && { measured }),
    leftovers: leftovers(model, caches),
  }
}

/** Only proxies count requests. */
async function metricApisFor(proxies: readonly Proxy[], { metricApis }: GatherServingDeps) {
  return proxies.length === 0 ? undefined : metricApis?.read()
}

/** Models of both API groups can have the same key. */
export const healthKind = ({ apiVersion }: Pick<Model, 'apiVersion'>): string => apiVersion
interface MeasureDeps extends Pick<GatherServingDeps, 'config' | 'now'> {
  readonly prometheus: MetricSource
}

/** Does not wait: the reader wakes the model when it has new answers. */
function measuredOf(
  model: Model,
  deployments: readonly Deployment[],
  { config, now, prometheus: { reader, config: measure } }: MeasureDeps,
): Measured {
  const questions = questionsOf({ model, deployments, config, now }, measure)
  const { name, namespace = '', uid = '' } = model.metadata
  const answers = questions && reader.read({ key: { name, namespace }, uid }, questions, now)
  const { rateSeconds, refreshSeconds } = measure
  return { isAsked: questions !== undefined, pollMs: refreshSeconds * 1000, rateSeconds, ...(answers && { answers }) }
}

function proxiesOf(model: Model, deployments: readonly Deployment[], pods: readonly Pod[]): Proxy[] {
  const names = providers.proxyNames(model)
  return deployments
    .filter(({ metadata }) => names.includes(metadata.name))
    .map((deployment) => ({ deployment, pods: pods.filter((pod) => isRunningPodOf(pod, deployment)) }))
}

const isRunningPodOf = (pod: Pod, deployment: Deployment): boolean =>
  isPodOf(pod, deployment) && pod.metadata.deletionTimestamp === undefined

function endpointsOf(service: Service, { endpoints }: ServingCaches): EndpointSlice[] {
  const { uid = '' } = service.metadata
  return endpoints.ownedBy(uid).filter((slice) => isControlledBy(slice, service))
}

function serverOf(model: Model, { servers }: ServingCaches): ModelServer | undefined {
  const { namespace } = model.metadata
  const name = runtimeNameOf(model)
  return name === undefined ? undefined : servers.get({ name, ...(namespace !== undefined && { namespace }) })
}
