import type { Mutant } from './mutant.ts'
import { agentMutants } from './list/agent.ts'
import { apiMutants } from './list/api.ts'
import { commandMutants } from './list/command.ts'
import { integrationsMutants } from './list/integrations.ts'
import { kubeMutants } from './list/kube.ts'
import { netMutants } from './list/net.ts'
import { reconcileMutants } from './list/reconcile.ts'
import { runtimeMutants } from './list/runtime.ts'
import { servingMutants } from './list/serving.ts'
import { trafficMutants } from './list/traffic.ts'
import { trainingMutants } from './list/training.ts'
import { webhooksMutants } from './list/webhooks.ts'

export const mutants: readonly Mutant[] = [
  ...kubeMutants,
  ...netMutants,
  ...runtimeMutants,
  ...apiMutants,
  ...trainingMutants,
  ...servingMutants,
  ...trafficMutants,
  ...reconcileMutants,
  ...integrationsMutants,
  ...agentMutants,
  ...webhooksMutants,
  ...commandMutants,
]
