/**
 * An engine runs a gang. It only translates: who is there, what fills the empty seats, what makes them empty again. When
 * to do so is decided elsewhere, once for all engines, and one suite holds every engine to this contract.
 */
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import type { KubeObject } from '../../../kube/object.ts'
import type { Attempt, Seat } from '../attempt.ts'
import type { Member } from '../member.ts'
import type { TrainingObserved } from '../observed.ts'

export interface Change {
  readonly apply: readonly KubeObject[]
  readonly prune: readonly KubeObject[]
}

export interface Engine {
  /** Host name of a pod of the gang, below the name of the job's Service. */
  readonly hostname: (job: TrainingJob, role: string, index: number) => string
  /** Everybody who is there, of whatever attempt, those on their way out and those announced included. */
  readonly members: (observed: TrainingObserved) => readonly Member[]
  /** Whether anything of another attempt than this one is left: as long as it is, nothing of this one may start. */
  readonly isOccupied: (observed: TrainingObserved, attempt: number) => boolean
  /** What to create so that these seats are taken. Nothing of what is there already is changed by it. */
  readonly occupy: (observed: TrainingObserved, attempt: Attempt, seats: readonly Seat[]) => readonly KubeObject[]
  /** What to do, pass after pass, until none of these members is left. */
  readonly clear: (observed: TrainingObserved, members: readonly Member[]) => Change
  /** What to do so that nothing runs any more, while those who have ended stay to be looked at. */
  readonly stop: (observed: TrainingObserved) => Change
}

export const NO_CHANGE: Change = { apply: [], prune: [] }
