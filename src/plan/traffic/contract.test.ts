/** Every registered provider keeps the contract. What only one of them does is tested beside it. */
import { anyTargets, trafficProviderContract } from '../../../test/contracts/traffic-provider.ts'
import { trafficRulesContract } from '../../../test/contracts/traffic-rules.ts'
import { worlds } from '../../../test/contracts/traffic-worlds.ts'
import { providers } from './index.ts'

for (const provider of providers.all) {
  const world = worlds[provider.name]
  trafficProviderContract(provider, world, providers)
  trafficRulesContract(provider, world, world.targets ?? anyTargets)
}
