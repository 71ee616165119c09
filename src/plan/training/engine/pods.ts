/** One pod per seat, created by us. A pod's name is its seat, so a seat can never be taken twice. */
import type { Pod } from '../../../kube/resources.ts'
import type { Attempt, Seat } from '../attempt.ts'
import { variable } from '../environment/variable.ts'
import { isActive, type Member, memberOf } from '../member.ts'
import { INDEX_LABEL, podName, ROLE_LABEL, WORKER, WORKER_LABEL } from '../names.ts'
import type { TrainingObserved } from '../observed.ts'
import { podTemplate } from '../pod-template.ts'
import type { Engine } from './contract.ts'

export const pods: Engine = {
  hostname: podName,
  members,
  isOccupied: (observed, attempt) => members(observed).some((member) => member.attempt !== attempt),
  occupy: (observed, attempt, seats) => seats.map((seat) => workerPod(observed, attempt, seat)),
  clear: (_observed, who) => ({ apply: [], prune: podsOf(who) }),
  stop: (observed) => ({ apply: [], prune: podsOf(members(observed).filter(isActive)) }),
}

function members({ pods: there }: TrainingObserved): readonly Member[] {
  return there.map((pod) => memberOf(pod, seatOf(pod)))
}

function seatOf({ metadata: { labels = {} } }: Pod): Seat {
  return { role: labels[ROLE_LABEL] ?? WORKER, index: Number(labels[INDEX_LABEL] ?? 0) }
}

const podsOf = (who: readonly Member[]): Pod[] => who.flatMap(({ pod }) => pod ?? [])

function workerPod({ job, config }: TrainingObserved, attempt: Attempt, { role, index }: Seat): Pod {
  const [rank = { name: 'RANK' }] = variable('RANK', index)
  const { metadata, spec } = podTemplate({ job, attempt, config, role, index: String(index), rank, hostname: podName })
  const name = podName(job, role, index)
  const place = { [INDEX_LABEL]: String(index), ...(role === WORKER && { [WORKER_LABEL]: String(index) }) }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { ...metadata.labels, ...place }, annotations: metadata.annotations },
    spec: { ...spec, hostname: name },
  }
}
