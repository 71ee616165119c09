/** Every registered provider keeps the contract. What only one of them does is tested beside it. */
import { trafficProviderContract } from '../../../test/contracts/traffic-provider.ts'
import { worlds } from '../../../test/contracts/traffic-worlds.ts'
import { providers } from './index.ts'

for (const provider of providers.all) trafficProviderContract(provider, worlds[provider.name], providers)
