/** Which provider the spec asks for, and which one the model uses now. */
import type { TrafficStatus } from '../../../api/serving-status.ts'
import type { Trouble } from '../../pod-trouble.ts'
import { missingKind, neededRules, soleOf, sum, type TrafficProvider, type Weights } from '../../traffic/index.ts'
import type { ModelView } from '../observe/view.ts'

export interface ProviderChoice {
  readonly provider: TrafficProvider
  /** Why it is not the one that the spec names. */
  readonly unavailable?: Trouble
}

/** The provider of the spec, or the choice of `auto` if the cluster cannot run it. */
export function chosenProvider(view: ModelView, weights: Weights): ProviderChoice {
  const { providers, observed, model } = view
  const { provider: name } = model.traffic
  const best = (): TrafficProvider => providers.best(requestOf(view, weights), observed.servedKinds)
  if (name === 'auto') return { provider: best() }
  const missing = missingKind(providers.of(name), observed.servedKinds)
  if (missing === undefined) return { provider: providers.of(name) }
  const message = `spec.traffic.provider: the cluster does not serve the kind ${missing}, so ${name} cannot split traffic: install it, or choose another provider`
  return { provider: best(), unavailable: { reason: 'ProviderUnavailable', message } }
}

function requestOf({ model }: ModelView, weights: Weights) {
  return {
    versions: model.versions.length,
    isSplit: sum(weights) > 0 && soleOf(weights) === undefined,
    hasGateways: model.traffic.gateways !== undefined,
    needs: neededRules(model.traffic),
  }
}

/**
 * The provider on record. One that is no longer available stays until the next is in effect: the Service leads to server
 * pods, which answer without it, while the pods of a proxy may not exist yet.
 */
export function recordedProvider(view: ModelView, chosen: TrafficProvider): TrafficStatus {
  return view.recorded.traffic ?? { provider: recognisedProvider(view, chosen).name }
}

/** For a Service that was written when the status was not: what it leads to. */
function recognisedProvider({ service, observed, providers }: ModelView, chosen: TrafficProvider): TrafficProvider {
  const selector = service?.spec?.selector
  if (!selector) return chosen
  const entrance = { selector, routes: observed.traffic.routes }
  const found = providers.all.find((provider) => provider.recognises(entrance))
  // A Service that selects no proxy cannot lead to a provider that has one.
  return found ?? (chosen.proxyName ? providers.plain : chosen)
}
