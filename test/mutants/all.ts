import type { Mutant } from './mutant.ts'
import { agentMutants } from './list/agent.ts'
import { autoscalingMutants } from './list/autoscaling.ts'
import { checkpointMutants } from './list/checkpoints.ts'
import { apiMutants } from './list/api.ts'
import { commandMutants } from './list/command.ts'
import { healthMutants } from './list/health.ts'
import { integrationsMutants } from './list/integrations.ts'
import { kubeMutants } from './list/kube.ts'
import { netMutants } from './list/net.ts'
import { outputMutants } from './list/output.ts'
import { reconcileMutants } from './list/reconcile.ts'
import { prometheusMutants } from './list/prometheus.ts'
import { rolloutMutants } from './list/rollout.ts'
import { strategyMutants } from './list/rollout-strategy.ts'
import { runtimeMutants } from './list/runtime.ts'
import { scheduleMutants } from './list/schedule.ts'
import { servingMutants } from './list/serving.ts'
import { surgeMutants } from './list/surge.ts'
import { analysisJobMutants } from './list/analysis-jobs.ts'
import { trafficMutants } from './list/traffic.ts'
import { trainingCheckpointMutants } from './list/training-checkpoints.ts'
import { costMutants } from './list/training-cost.ts'
import { gangMutants } from './list/training-gangs.ts'
import { quotaMutants } from './list/training-quota.ts'
import { trainingMutants } from './list/training.ts'
import { stallMutants } from './list/training-stall.ts'
import { trainingElasticMutants } from './list/training-elastic.ts'
import { webhooksMutants } from './list/webhooks.ts'

export const mutants: readonly Mutant[] = [
  ...kubeMutants,
  ...netMutants,
  ...runtimeMutants,
  ...apiMutants,
  ...trainingMutants,
  ...stallMutants,
  ...gangMutants,
  ...quotaMutants,
  ...costMutants,
  ...outputMutants,
  ...trainingElasticMutants,
  ...trainingCheckpointMutants,
  ...scheduleMutants,
  ...servingMutants,
  ...autoscalingMutants,
  ...prometheusMutants,
  ...rolloutMutants,
  ...strategyMutants,
  ...surgeMutants,
  ...analysisJobMutants,
  ...healthMutants,
  ...trafficMutants,
  ...reconcileMutants,
  ...integrationsMutants,
  ...agentMutants,
  ...checkpointMutants,
  ...webhooksMutants,
  ...commandMutants,
]
