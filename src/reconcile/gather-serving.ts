/** Every read that a pass over a model makes. All but the reports of its routers come from memory. */
import type { ModelServer } from '../api/modelserver.v1.ts'
import type { RouterRates } from '../integrations/router-rates.ts'
import type { ReadRouterReports } from '../integrations/router-reports.ts'
import type { KubeObject } from '../kube/object.ts'
import type { Deployment, Pod } from '../kube/resources.ts'
import type { ServingConfig } from '../plan/serving/config.ts'
import { MODEL_UID_LABEL, routerName } from '../plan/model-names.ts'
import type { ServingObserved } from '../plan/serving/observed.ts'
import { runtimeNameOf } from '../plan/serving/runtimes/runtime.ts'
import { type Cache, deploymentOf, isControlledBy, isSelectedBy } from '../runtime/index.ts'
import { type Model, offersOf, type ServingCaches } from './serving-caches.ts'

export type Rates = Pick<RouterRates, 'note'>

export interface GatherServingDeps {
  readonly caches: ServingCaches
  readonly config: ServingConfig
  readonly now: number
  readonly readReports: ReadRouterReports
  /** Remembers earlier reports. */
  readonly rates: Rates
}

export async function gatherServing(model: Model, deps: GatherServingDeps): Promise<ServingObserved> {
  const { caches, config, now } = deps
  const { uid = '' } = model.metadata
  const own = <T extends KubeObject>(cache: Cache<T>): T[] =>
    cache.byLabel(MODEL_UID_LABEL, uid).filter((object) => isControlledBy(object, model))
  const { children } = caches
  const deployments = own(children.deployments)
  const pods = caches.pods.byLabel(MODEL_UID_LABEL, uid)
  const server = serverOf(model, caches)
  const router = deployments.find(({ metadata }) => metadata.name === routerName(model))
  const routerPods = router ? pods.filter((pod) => isRouter(pod, router)) : []
  const reports = routerPods.length === 0 ? new Map<string, never>() : await deps.readReports(routerPods)
  const rates = reports.size === 0 ? undefined : deps.rates.note(reports, now)
  const routes = [...own(children.virtualServices), ...own(children.destinationRules), ...own(children.httpRoutes)]
  return {
    model,
    now,
    config,
    ...(server && { server }),
    deployments,
    services: own(children.services),
    autoscalers: own(children.autoscalers),
    budgets: own(children.budgets),
    configMaps: own(children.configMaps),
    claims: own(children.claims),
    jobs: own(children.jobs),
    pods,
    offers: offersOf(children),
    traffic: { routes, ...(router && { router }), routerPods, reports },
    ...(rates && { rates }),
  }
}

/** Labels alone would let anybody's pod speak for a router. */
function isRouter(pod: Pod, router: Deployment): boolean {
  const isOurs = deploymentOf(pod)?.name === router.metadata.name && isSelectedBy(pod, router)
  return isOurs && pod.metadata.deletionTimestamp === undefined
}

function serverOf(model: Model, { servers }: ServingCaches): ModelServer | undefined {
  const { namespace } = model.metadata
  const name = runtimeNameOf(model)
  return name === undefined ? undefined : servers.get({ name, ...(namespace !== undefined && { namespace }) })
}
