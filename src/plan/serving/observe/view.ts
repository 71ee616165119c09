/** What was observed of a model, sorted for decisions. */
import type { ServingStatus } from '../../../api/serving-status.ts'
import type { Service } from '../../../kube/resources.ts'
import { serviceName, VERSION_LABEL } from '../../model-names.ts'
import { allowedExposure, type ProviderRegistry, type Weights } from '../../traffic/index.ts'
import type { ServingObserved } from './observed.ts'
import type { Course, Travel } from '../rollout/course.ts'
import type { ServedModel } from './served-model.ts'
import { findingsOf, type VersionFindings } from './version-health.ts'
import { type Version, versionsOf } from './version.ts'

export interface ModelView {
  readonly observed: ServingObserved
  readonly model: ServedModel
  readonly versions: readonly Version[]
  /** The health of the pods of each version, by its name. */
  readonly findings: ReadonlyMap<string, VersionFindings>
  /** The status as it was last written. */
  readonly recorded: ServingStatus
  /** The weights of the spec, or of the present step of the rollout. */
  readonly wantedWeights: Weights
  /** Absent without a rollout in the spec. */
  readonly travel?: Travel
  /** The weights of the status. */
  readonly recordedWeights: Weights
  /** The model's Service, where requests enter. */
  readonly service?: Service
  /** Port of the model's Services. */
  readonly port: number
  readonly now: number
  readonly drainMs: number
  /** Why host names or gateways were left out of `model.traffic`. */
  readonly exposureProblem?: { readonly isGateway: boolean; readonly message: string }
  readonly providers: ProviderRegistry
}

export function viewOf(
  observed: ServingObserved,
  { model, aim, travel }: Course,
  providers: ProviderRegistry,
): ModelView {
  const { now, config } = observed
  const recorded = observed.model.status ?? {}
  const service = observed.services.find(({ metadata }) => metadata.name === serviceName(model))
  const allowed = allowedExposure(model.traffic, model.metadata.namespace ?? '', config)
  const { problem, hasForeignGateway = false, ...exposure } = allowed
  const versions = versionsOf(observed, model)
  const { gateways: _gateways, hostnames: _hostnames, ...traffic } = model.traffic
  return {
    observed,
    model: { ...model, traffic: { ...traffic, ...exposure } },
    ...(problem !== undefined && { exposureProblem: { isGateway: hasForeignGateway, message: problem } }),
    versions,
    findings: new Map(versions.map((version) => [version.name, findingsOf(observed, model, version)])),
    recorded,
    wantedWeights: aim,
    ...(travel && { travel }),
    recordedWeights: new Map(recorded.activeVersions?.map(({ name, weight = 0 }) => [name, weight])),
    ...(service && { service }),
    port: publishedPort(recorded) ?? model.server.port,
    now,
    drainMs: (model.traffic.drainSeconds ?? config.drainSeconds) * 1000,
    providers,
  }
}

/** The port in the URL that clients use. It stays when the runtime moves to another port. */
export function publishedPort({ url = '' }: ServingStatus): number | undefined {
  const port = Number(/:(?<port>\d{1,5})$/.exec(url)?.groups?.['port'])
  return port >= 1 && port <= 65_535 ? port : undefined
}

/** The version that the Service selects, if it selects only one. */
export const selectedVersion = ({ service }: ModelView): string | undefined => service?.spec?.selector?.[VERSION_LABEL]
