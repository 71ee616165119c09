/** Scheduling of the pods of a model. Pods that share a cache for one node run on one node. */
import { MODEL_UID_LABEL, VERSION_LABEL } from '../../model-names.ts'
import { colocated, NODE_KEY } from '../../pod/colocation.ts'
import type { SchedulingSpec } from '../../pod/scheduling.ts'
import type { ServedModel } from '../observe/served-model.ts'

export function placementOf({ metadata, scheduling = {}, storage }: ServedModel): SchedulingSpec {
  if (storage?.size === undefined || storage.accessMode !== 'ReadWriteOnce') return scheduling
  const pods = {
    matchLabels: { [MODEL_UID_LABEL]: metadata.uid ?? '' },
    matchExpressions: [{ key: VERSION_LABEL, operator: 'Exists' }],
  }
  return { ...scheduling, affinity: colocated(scheduling.affinity, pods, [NODE_KEY]) }
}
