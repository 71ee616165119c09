/** A set of providers, in the order in which `auto` tries them. */
import { type KubeObject, type Resource } from '../../kube/object.ts'
import type { Named } from '../model-names.ts'
import type { ProviderKind, ProviderName, SplitRequest, TrafficProvider } from './contract.ts'

export class ProviderRegistry {
  readonly all: readonly TrafficProvider[]
  /** Needs nothing but the Service. A Service that no provider recognises is taken to lead to it. */
  readonly plain: TrafficProvider

  constructor(all: readonly TrafficProvider[], plain: TrafficProvider) {
    this.all = all
    this.plain = plain
  }

  /** The same registry with one more provider, tried first. */
  with(provider: TrafficProvider): ProviderRegistry {
    return new ProviderRegistry([provider, ...this.all], this.plain)
  }

  of(name: ProviderName): TrafficProvider {
    const found = this.all.find((provider) => provider.name === name)
    if (!found) throw new Error(`there is no traffic provider ${name}`)
    return found
  }

  /** The choice of `auto`. */
  best(request: SplitRequest, servedKinds: ReadonlySet<string>): TrafficProvider {
    const found = this.all.find(
      (provider) =>
        missingKind(provider, servedKinds) === undefined &&
        provider.suits(request) &&
        (request.needs ?? []).every((rule) => provider.rules?.includes(rule)),
    )
    return found ?? this.plain
  }

  /** Every kind that a provider declares, once. */
  get kinds(): readonly ProviderKind[] {
    const kinds = this.all.flatMap((provider) => provider.kinds)
    return [...new Map(kinds.map((kind) => [kindName(kind.resource), kind])).values()]
  }

  /** Names of the Deployments that providers may bring for a model. */
  proxyNames(model: Named): readonly string[] {
    return this.all.flatMap((provider) => provider.proxyName?.(model) ?? [])
  }
}

/** A kind as CRDs are named: `{plural}.{group}`. */
export const kindName = ({ plural, group }: Resource): string => `${plural}.${group}`

/** The first kind that a provider needs and the cluster does not serve. */
export function missingKind({ kinds }: TrafficProvider, served: ReadonlySet<string>): KubeObject['kind'] | undefined {
  return kinds.find(({ resource }) => !served.has(kindName(resource)))?.resource.kind
}
