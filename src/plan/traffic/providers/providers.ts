/** The providers, in the order in which `auto` tries them. The compiler reports one that the API names and is not here. */
import type { ProviderName, TrafficProvider } from '../contract.ts'
import { ProviderRegistry } from '../registry.ts'
import { direct } from './direct.ts'
import { gateway } from './gateway/gateway.ts'
import { istio } from './istio/istio.ts'
import { replicas } from './replicas.ts'
import { router } from './router/router.ts'

const registered = { direct, istio, gateway, router, replicas } satisfies Record<ProviderName, TrafficProvider>

export const providers = new ProviderRegistry(Object.values(registered), direct)

type Defaults = (typeof registered)[ProviderName]['defaults']
type Intersection<Union> = (Union extends unknown ? (one: Union) => void : never) extends (one: infer All) => void
  ? All
  : never

/** The settings of all providers. */
export type ProviderConfig = Intersection<Defaults>

export const defaultProviderConfig = Object.assign(
  {},
  ...providers.all.map(({ defaults }) => defaults),
) as ProviderConfig
