/** Traffic between the versions of a model: what the planner, gather and the caches may know of providers. */
export { apportion } from './apportion.ts'
export { defaultTrafficConfig, type TrafficConfig, trafficConfigProblem, trafficImages } from './config.ts'
export type {
  Entrance,
  ProviderKind,
  ProviderName,
  Proxy,
  Rendered,
  RuleKind,
  Situation,
  TrafficObserved,
  TrafficProvider,
  TrafficTarget,
} from './contract.ts'
export { allowedExposure } from './exposure.ts'
export { providers } from './providers/providers.ts'
export { kindName, missingKind, ProviderRegistry } from './registry.ts'
export { type FigureName, figureNames, type VersionQueries, versionQuery } from './version-queries.ts'
export { neededRules, usableRules } from './rules.ts'
export { isSameSplit, soleOf, sum, toNames, type Weights, WHOLE } from './weights.ts'
