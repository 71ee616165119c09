/** Changes of size that wait, and what is kept of a job after its end. */
import type { Mutant } from '../mutant.ts'
import { contract } from '../oracles.ts'

const wantedResize = contract('src/plan/training/observe/wanted-resize.test.ts')
const history = contract('src/plan/training/steps/history.test.ts')
const attemptHistory = contract('src/plan/training/report/attempt-history.test.ts')

export const trainingElasticMutants: readonly Mutant[] = [
  {
    id: 'training/resize-not-limited',
    file: 'src/plan/training/observe/wanted-resize.ts',
    what: 'An autoscaler that changes its mind restarts the gang each time.',
    from: 'Math.max(requestedAt, last + observed.config.resizeIntervalMs)',
    to: 'requestedAt',
    caughtBy: wantedResize,
  },
  {
    id: 'training/resize-wait-prolonged',
    file: 'src/plan/training/observe/wanted-resize.ts',
    what: 'Each change of the number of workers prolongs the wait for a checkpoint.',
    from: 'const requestedAt = past(resize?.requestedTime) ?? now',
    to: 'const requestedAt = resize?.desired === job.spec.numWorkers ? (past(resize?.requestedTime) ?? now) : now',
    caughtBy: wantedResize,
  },
  {
    id: 'training/resize-at-old-checkpoint',
    file: 'src/plan/training/observe/wanted-resize.ts',
    what: 'A checkpoint from before the request ends the wait, and the work since then is lost.',
    from: 'times.newest !== undefined && times.newest > (times.known ?? Infinity)',
    to: 'times.newest !== undefined',
    caughtBy: wantedResize,
  },
  {
    id: 'training/resize-forgets-checkpoints',
    file: 'src/plan/training/observe/wanted-resize.ts',
    what: 'After a restart of the operator, a change of size no longer waits for a checkpoint.',
    from: 'millis(resize?.lastCheckpointTime) ?? newest',
    to: 'newest',
    caughtBy: wantedResize,
  },
  {
    id: 'training/resize-time-not-recorded',
    file: 'src/plan/training/steps/resize.ts',
    what: 'The time of a change of size is not recorded, so the next one is not limited.',
    from: '...(isRestart && { lastResizeTime: timestamp(observed.now) }),',
    to: '',
    caughtBy: wantedResize,
  },
  {
    id: 'training/history-after-cleanup',
    file: 'src/plan/training/lifecycle.ts',
    what: 'Pods are cleaned up before their logs are kept in the history.',
    from: '  keepHistory,\n  stayFinished,\n',
    to: '  stayFinished,\n  keepHistory,\n',
    caughtBy: history,
  },
  {
    id: 'training/history-blocks-cleanup',
    file: 'src/plan/training/steps/history.ts',
    what: 'A history that cannot be written keeps the pods of the job for ever.',
    from: 'history: { message } }',
    to: 'history: { ...known.history, message } }',
    caughtBy: history,
  },
  {
    id: 'training/history-of-other-job',
    file: 'src/plan/training/objects/history.ts',
    what: 'The retained history of an earlier job of the name counts as that of this job.',
    from: 'metadata.labels?.[JOB_UID_LABEL] === job.metadata.uid && metadata.labels?.[COMPONENT] === HISTORY',
    to: "metadata.labels?.[COMPONENT] === HISTORY && job.metadata.uid !== ''",
    caughtBy: history,
  },
  {
    id: 'training/attempt-ends-twice',
    file: 'src/plan/training/report/attempt-history.ts',
    what: 'An attempt that a suspension has ended is recorded again when the job resumes.',
    from: ' && !known.some((past) => past.attempt === number)',
    to: '',
    caughtBy: attemptHistory,
  },
  {
    id: 'training/attempts-unbounded',
    file: 'src/plan/training/report/attempt-history.ts',
    what: 'The status grows with each attempt.',
    from: '.slice(-MAX_ATTEMPTS)',
    to: '.slice(0)',
    caughtBy: attemptHistory,
  },
  {
    id: 'training/curve-loses-end',
    file: 'src/reconcile/training-history.ts',
    what: 'The last metrics of a job are missing in its history.',
    from: 'return last === undefined || this.#points.at(-1) === last ? this.#points : [...this.#points, last]',
    to: 'return last === undefined ? [] : this.#points',
    caughtBy: contract('src/reconcile/training-history.test.ts'),
  },
]
