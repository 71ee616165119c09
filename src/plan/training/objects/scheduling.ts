/** Scheduling of the pods of a job, with `topologyKey` as pod affinity. */
import type { Affinity } from '../../../api/affinity.ts'
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import { schedulingOf } from '../../pod/scheduling.ts'
import type { TrainingConfig } from '../config.ts'
import { JOB_UID_LABEL } from '../names.ts'

export function jobScheduling({ spec, metadata }: TrainingJob, gpus: number, config: TrainingConfig): object {
  const { topologyKey, ...scheduling } = spec.scheduling ?? {}
  if (topologyKey === undefined) return schedulingOf(scheduling, gpus > 0, config)
  const affinity = colocate(scheduling.affinity, topologyKey, metadata.uid ?? '')
  return schedulingOf({ ...scheduling, affinity }, gpus > 0, config)
}

/** Requires every pod to be near the others. The first one matches itself, so it can go anywhere. */
function colocate(affinity: Affinity | undefined, topologyKey: string, uid: string): object {
  const near = { labelSelector: { matchLabels: { [JOB_UID_LABEL]: uid } }, topologyKey }
  const required = affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []
  return {
    ...affinity,
    podAffinity: { ...affinity?.podAffinity, requiredDuringSchedulingIgnoredDuringExecution: [...required, near] },
  }
}
