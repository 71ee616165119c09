/** Oracles for a TrainingSchedule and its runs. */
import type { TrainingJob } from '../../../src/api/trainingjob.v1.ts'
import { trainingJobs } from '../../../src/api/kinds.ts'
import type { TrainingSchedule } from '../../../src/api/trainingschedule.v1.ts'
import type { KubeObject } from '../../../src/kube/object.ts'
import type { Oracle } from './oracle.ts'
import { trainingOracles } from './training-oracles.ts'

const isRun = (object: KubeObject): object is TrainingJob => object.kind === trainingJobs.kind
const isSchedule = (object: KubeObject): object is TrainingSchedule => object.kind === 'TrainingSchedule'
const isEnded = ({ status }: TrainingJob): boolean => status?.state === 'Completed' || status?.state === 'Failed'

export function scheduleOracles(): Oracle[] {
  return [...trainingOracles(), oneRunPerTime(), oneRunAtATime, onlyEndedDeleted, monotonicTimes]
}

/** S1: no scheduled time has two runs, not even one after the other. */
function oneRunPerTime(): Oracle {
  const created = new Set<string>()
  return {
    name: 'S1',
    onChange: ({ type, object }) => {
      if (type !== 'created' || !isRun(object)) return undefined
      const { name } = object.metadata
      if (created.has(name)) return `${name} was started again`
      created.add(name)
      return undefined
    },
  }
}

/** S2: with `Forbid`, the default, a run starts after the one before has ended. */
const oneRunAtATime: Oracle = {
  name: 'S2',
  onChange: ({ type, object }, cluster) => {
    if (type !== 'created' || !isRun(object)) return undefined
    const active = cluster.list(trainingJobs).filter((run) => !isEnded(run))
    return active.length > 1 ? `${active.map(({ metadata }) => metadata.name).join(' and ')} overlap` : undefined
  },
}

/** S3: the history deletes only runs that have ended. */
const onlyEndedDeleted: Oracle = {
  name: 'S3',
  onChange: ({ type, object, previous }) => {
    if (type !== 'changed' || !isRun(object) || !previous) return undefined
    const isDeleted =
      object.metadata.deletionTimestamp !== undefined && previous.metadata.deletionTimestamp === undefined
    return isDeleted && !isEnded(object) ? `${object.metadata.name} was deleted while it ran` : undefined
  },
}

/** S4: `lastScheduleTime` never decreases. */
const monotonicTimes: Oracle = {
  name: 'S4',
  onChange: ({ type, object, previous }) => {
    if (type === 'deleted' || !isSchedule(object)) return undefined
    const before = (previous as TrainingSchedule | undefined)?.status?.lastScheduleTime ?? ''
    const now = object.status?.lastScheduleTime ?? ''
    return now < before ? `lastScheduleTime decreased from ${before} to ${now}` : undefined
  },
}
