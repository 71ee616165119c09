import type { Mutant } from '../mutant.ts'
import { contract, properties } from '../oracles.ts'

const plan = contract('src/plan/schedule/plan.test.ts')
const histories = properties('src/plan/schedule/plan.properties.test.ts')
const times = contract('src/reconcile/schedule-times.test.ts')
const FILE = 'src/plan/schedule/plan.ts'

export const scheduleMutants: readonly Mutant[] = [
  {
    id: 'schedule/created-unrecorded',
    file: FILE,
    what: 'A run is not recorded as started by the plan that creates it, so it is created again after it is pruned.',
    from: 'decided(situation, { pending: null, last: pending, created: run })',
    to: 'decided(situation, { pending: null, created: run })',
    caughtBy: plan,
  },
  {
    id: 'schedule/started-not-advanced',
    file: FILE,
    what: 'A run that exists after a crash is not recorded as the last one.',
    from: 'return decided(situation, { pending: null, last: pending })',
    to: 'return decided(situation, { pending: null })',
    caughtBy: histories,
  },
  {
    id: 'schedule/forbid-overlaps',
    file: 'src/plan/schedule/situation.ts',
    what: 'Forbid and Replace ignore runs that are being deleted.',
    from: "observed.schedule.spec.concurrencyPolicy !== 'Allow' && active.length > 0",
    to: "observed.schedule.spec.concurrencyPolicy !== 'Allow' && active.some(({ metadata }) => !metadata.deletionTimestamp)",
    caughtBy: plan,
  },
  {
    id: 'schedule/late-run-starts',
    file: FILE,
    what: 'A run starts although its deadline has passed.',
    from: 'due === undefined || isLate(observed, due)) return undefined',
    to: 'due === undefined) return undefined',
    caughtBy: plan,
  },
  {
    id: 'schedule/suspended-pending-starts',
    file: FILE,
    what: 'A pending run starts although the schedule is suspended.',
    from: 'return spec.suspend || isMissed ?',
    to: 'return isMissed ?',
    caughtBy: plan,
  },
  {
    id: 'schedule/prune-newest',
    file: FILE,
    what: 'The history deletes the newest runs instead of the oldest.',
    from: 'runs.slice(0, Math.max(0, runs.length - limit))',
    to: 'runs.slice(limit)',
    caughtBy: plan,
  },
  {
    id: 'schedule/prune-unrecorded',
    file: FILE,
    what: 'A run is deleted before its end is recorded.',
    from: 'const recorded = finished.filter((run) => isRecorded(situation, run))',
    to: 'const recorded = finished',
    caughtBy: plan,
  },
  {
    id: 'schedule/gone-run-again',
    file: FILE,
    what: 'A run that was deleted before it was recorded starts again.',
    from: '(!started && !observed.isPendingGone)',
    to: '!started',
    caughtBy: plan,
  },
  {
    id: 'schedule/settled-time-due',
    file: 'src/reconcile/schedule-times.ts',
    what: 'The time of the last run is due again.',
    from: 'due !== undefined && due > since',
    to: 'due !== undefined && due >= since',
    caughtBy: times,
  },
]
