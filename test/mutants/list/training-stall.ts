import type { Mutant } from '../mutant.ts'
import { contract } from '../oracles.ts'

const stall = contract('src/plan/training/steps/stall.test.ts')

export const stallMutants: readonly Mutant[] = [
  {
    id: 'training/stall-not-recorded',
    file: 'src/plan/training/steps/stall.ts',
    what: 'A stalled gang restarts before the stall is recorded.',
    from: ' || !isTrue(job.status?.conditions, STALLED)) return undefined',
    to: ') return undefined',
    caughtBy: stall,
  },
  {
    id: 'training/stall-warn-restarts',
    file: 'src/plan/training/steps/stall.ts',
    what: 'A job that only asks for a warning restarts.',
    from: "stall.action === 'Warn' || ",
    to: '',
    caughtBy: stall,
  },
  {
    id: 'training/stall-after-outage',
    file: 'src/plan/training/observe/stall.ts',
    what: 'After an outage of the operator, a job is stalled before its pods could report.',
    from: ', watch - stillness.watchedMs)',
    to: ')',
    caughtBy: stall,
  },
  {
    id: 'training/stall-ignores-checkpoints',
    file: 'src/plan/training/observe/stall.ts',
    what: 'A checkpoint is no progress.',
    from: ', ...savedIn(snapshot)]',
    to: ']',
    caughtBy: stall,
  },
  {
    id: 'training/stall-while-missing',
    file: 'src/plan/training/observe/stall.ts',
    what: 'The timeout of a stall runs while a worker is missing.',
    from: 'Math.max(millis(readiness.lastTransitionTime) ?? now, ',
    to: 'Math.max(-1, ',
    caughtBy: stall,
  },
]
