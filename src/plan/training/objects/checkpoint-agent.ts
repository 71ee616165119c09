/**
 * Containers of the agent that work on checkpoints, with the identity of the tenant: its ServiceAccount, and, where a bucket is
 * involved, its environment and volumes, which have the credentials.
 */
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import type { Pod } from '../../../kube/resources.ts'
import { gpuEnvironment } from '../../pod/gpu-environment.ts'
import { restrictedContainerSecurity } from '../../pod/security-context.ts'
import { firstOfEach, renderVariable, type Variable } from '../../pod/variable.ts'
import type { TrainingConfig } from '../config.ts'
import type { VolumeMount } from './volumes.ts'

type Container = NonNullable<Pod['spec']>['containers'][number]

export interface AgentWork {
  readonly name: string
  /** After `agent`. */
  readonly args: readonly string[]
  readonly mounts: readonly VolumeMount[]
  readonly env?: readonly Variable[]
  /** Whether it reads or writes a bucket. */
  readonly usesBucket: boolean
}

export function agentContainer(job: TrainingJob, config: TrainingConfig, work: AgentWork): Container {
  const { env = [], envFrom, volumeMounts = [] } = job.spec
  const { name, args, mounts, usesBucket } = work
  const credentials = usesBucket ? env.map(renderVariable) : []
  const variables = [...gpuEnvironment(config.agentResources), ...(work.env ?? []), ...credentials]
  const own = new Set(mounts.map(({ mountPath }) => mountPath))
  const others = usesBucket ? volumeMounts.filter(({ mountPath }) => !own.has(mountPath)) : []
  return {
    name,
    image: config.agentImage,
    args: ['agent', ...args],
    env: firstOfEach(variables),
    ...(usesBucket && envFrom && { envFrom }),
    resources: config.agentResources,
    volumeMounts: [...mounts, ...others],
    terminationMessagePolicy: 'FallbackToLogsOnError',
    securityContext: restrictedContainerSecurity({ readOnlyRootFilesystem: true }),
  } as Container
}
