/** Where the pods of a job may run: what its spec says, and what nodes with GPUs need. */
import type { Affinity } from '../../api/affinity.ts'
import type { TrainingJob } from '../../api/trainingjob.v1.ts'
import type { TrainingConfig } from './config.ts'
import { JOB_UID_LABEL } from './names.ts'

export function schedulingOf({ spec, metadata }: TrainingJob, gpus: number, config: TrainingConfig): object {
  const {
    schedulerName,
    priorityClassName,
    nodeSelector,
    tolerations = [],
    affinity,
    topologyKey,
  } = spec.scheduling ?? {}
  const selector = { ...(gpus > 0 && config.gpuNodeSelector), ...nodeSelector }
  const tolerated = [...(gpus > 0 ? config.gpuTolerations : []), ...tolerations]
  const wanted = topologyKey === undefined ? affinity : together(affinity, topologyKey, metadata.uid ?? '')
  return {
    ...(schedulerName !== undefined && { schedulerName }),
    ...(priorityClassName !== undefined && { priorityClassName }),
    ...(Object.keys(selector).length > 0 && { nodeSelector: selector }),
    ...(tolerated.length > 0 && { tolerations: tolerated }),
    ...(wanted !== undefined && { affinity: wanted }),
  }
}

/** Every pod has to be near the others. The first of them is near itself, so it can go anywhere. */
function together(affinity: Affinity | undefined, topologyKey: string, uid: string): object {
  const near = { labelSelector: { matchLabels: { [JOB_UID_LABEL]: uid } }, topologyKey }
  const required = affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
  return {
    ...affinity,
    podAffinity: { ...affinity?.podAffinity, requiredDuringSchedulingIgnoredDuringExecution: [...required, near] },
  }
}
