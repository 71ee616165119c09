/** Who can divide traffic, by name. */
import type { ProviderName, TrafficProvider } from './contract.ts'
import { gatewayProvider } from './gateway.ts'
import { istioProvider } from './istio.ts'
import { replicasProvider } from './replicas.ts'
import { routerProvider } from './router.ts'

export const providers: Record<ProviderName, TrafficProvider> = {
  istio: istioProvider,
  gateway: gatewayProvider,
  router: routerProvider,
  replicas: replicasProvider,
}
