/** Scheduling of the pods of a job, with `topologyKey` and a volume for one node as pod affinity. */
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import { colocated, NODE_KEY } from '../../pod/colocation.ts'
import { schedulingOf } from '../../pod/scheduling.ts'
import type { TrainingConfig } from '../config.ts'
import { JOB_UID_LABEL } from '../names.ts'
import { needsOneNode } from './claims.ts'
import { withSpot } from './spot.ts'

export function jobScheduling({ spec, metadata }: TrainingJob, gpus: number, config: TrainingConfig): object {
  const { topologyKey, ...wanted } = spec.scheduling ?? {}
  const scheduling = withSpot(wanted, config)
  const keys = [...(topologyKey === undefined ? [] : [topologyKey]), ...(needsOneNode(spec, config) ? [NODE_KEY] : [])]
  if (keys.length === 0) return schedulingOf(scheduling, gpus > 0, config)
  const gang = { matchLabels: { [JOB_UID_LABEL]: metadata.uid ?? '' } }
  const affinity = colocated(scheduling.affinity, gang, keys)
  return schedulingOf({ ...scheduling, affinity }, gpus > 0, config)
}
