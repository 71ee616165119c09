/** The pod whose log or page of metrics shows the progress of a job. */
import type { ProgressTarget } from '../../../api/training-report.ts'
import type { Pod } from '../../../kube/resources.ts'
import { decidingRole } from '../frameworks/roles.ts'
import { CONTAINER } from '../names.ts'
import type { TrainingObserved } from './observed.ts'
import { snapshotOf } from './snapshot.ts'

/** Rank 0, or the pod of the role that decides, while the job runs. */
export function progressTarget(observed: TrainingObserved): ProgressTarget | undefined {
  const { job } = observed
  if (job.status?.state !== 'Running' || job.metadata.deletionTimestamp !== undefined) return undefined
  const deciding = decidingRole(job.spec)
  const first = snapshotOf(observed).gang.find(({ role, index }) => role === deciding && index === 0)
  if (first?.phase !== 'Running' || !first.pod) return undefined
  const { metrics } = job.spec.progress ?? {}
  return { pod: addressOf(first.pod), ...(metrics && { metrics }) }
}

function addressOf({ metadata, status }: Pod): ProgressTarget['pod'] {
  const { namespace = '', name, uid = '' } = metadata
  const { podIP: ip, hostIP } = status ?? {}
  return { namespace, name, uid, container: CONTAINER, ...(ip !== undefined && { ip, isHostNetwork: ip === hostIP }) }
}
