/** Traffic settings in the operator's configuration: those of all providers, and what they share. */
import type { ImageUse } from '../image-use.ts'
import { DEFAULT_AGENT_IMAGE } from '../pod/config.ts'
import type { AgentConfig } from './contract.ts'
import { defaultProviderConfig, type ProviderConfig, providers } from './providers/providers.ts'

export interface HostnameAllowance {
  /** `*` is every namespace. */
  readonly namespaces: readonly string[]
  /** `*.example.com` is every name below example.com, `*` every public name. */
  readonly hostnames: readonly string[]
}

export interface GatewayAllowance {
  /** `*` is every namespace. */
  readonly namespaces: readonly string[]
  /** `namespace/name`; `namespace/*` is every Gateway of the namespace, `*` every Gateway. */
  readonly gateways: readonly string[]
}

export interface TrafficConfig extends ProviderConfig, AgentConfig {
  /** Host names that models may use at gateways. Empty: any public name. Otherwise only those listed. */
  readonly allowedHostnames: readonly HostnameAllowance[]
  /** Gateways of other namespaces that models may use. Empty: any. Otherwise only those listed. */
  readonly allowedGateways: readonly GatewayAllowance[]
}

export const defaultTrafficConfig: TrafficConfig = {
  ...defaultProviderConfig,
  agentImage: DEFAULT_AGENT_IMAGE,
  allowedHostnames: [],
  allowedGateways: [],
}

/** What is wrong with the settings of a provider. */
export function trafficConfigProblem(config: TrafficConfig): string | undefined {
  const problems = providers.all.flatMap((provider) => provider.configProblem?.(config) ?? [])
  return problems[0]
}

/** The images that providers start, and the agent's. */
export function trafficImages(config: TrafficConfig): ImageUse[] {
  const agent = { image: config.agentImage, purpose: 'operator, and its agent in the pods of models' }
  return [agent, ...providers.all.flatMap((provider) => provider.images?.(config) ?? [])]
}
