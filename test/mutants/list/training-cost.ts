import type { Mutant } from '../mutant.ts'
import { contract, properties } from '../oracles.ts'

const cost = contract('src/plan/training/report/cost.test.ts')
const costs = properties('src/plan/training/report/cost.properties.test.ts', 'engine pods')
const spot = contract('src/plan/training/objects/spot.test.ts')
const counters = contract('src/reconcile/cost-counters.test.ts')
const settings = contract('src/plan/training/cost-config.test.ts')
const saved = contract('src/saved-object.test.ts')

export const costMutants: readonly Mutant[] = [
  {
    id: 'training/cost-counted-twice',
    file: 'src/plan/training/report/cost.ts',
    what: 'Every status update counts the whole time of a pod again.',
    from: 'chargeOf(usage, Math.max(usage.start, since)',
    to: 'chargeOf(usage, usage.start',
    caughtBy: costs,
  },
  {
    id: 'training/cost-forgets-gone',
    file: 'src/plan/training/report/cost.ts',
    what: 'The time for which a pod terminated is not counted once it is gone.',
    from: '...goneSince(known, usages, since)',
    to: '...[]',
    caughtBy: costs,
  },
  {
    id: 'training/cost-after-end',
    file: 'src/plan/training/report/cost.ts',
    what: 'A pod that has ended counts for as long as it exists.',
    from: 'Math.min(usage.end ?? until, until)',
    to: 'until',
    caughtBy: cost,
  },
  {
    id: 'training/cost-changes-with-time',
    file: 'src/plan/training/report/cost.ts',
    what: 'The status of a job at rest is written again and again.',
    from: 'if (!hasChanged(snapshot.job.status, status)) return status',
    to: '',
    caughtBy: cost,
  },
  {
    id: 'training/cost-clock-back',
    file: 'src/plan/training/report/cost.ts',
    what: 'After the clock went back, time is counted twice.',
    from: 'Math.max(since, Math.floor(observed.now / 1000) * 1000)',
    to: 'Math.floor(observed.now / 1000) * 1000',
    caughtBy: cost,
  },
  {
    id: 'training/cost-of-next-attempt',
    file: 'src/plan/training/report/cost.ts',
    what: 'Pods that terminate are charged to the next attempt.',
    from: 'labelled >= 1 && labelled <= current ? labelled : current',
    to: 'labelled >= 1 && labelled <= current ? current : current',
    caughtBy: cost,
  },
  {
    id: 'training/cost-rounded-hours',
    file: 'src/plan/training/report/cost.ts',
    what: 'Hours are rounded with every update, so that the error grows.',
    from: 'const HOUR_DIGITS = 7',
    to: 'const HOUR_DIGITS = 2',
    caughtBy: costs,
  },
  {
    id: 'training/cost-spot-price',
    file: 'src/plan/training/observe/pod-usage.ts',
    what: 'The price of a spot node applies to all nodes.',
    from: 'isMatch && (spot === undefined || spot === isSpotNode(labels, config))',
    to: 'isMatch',
    caughtBy: cost,
  },
  {
    id: 'training/spot-any-own-term',
    file: 'src/plan/training/objects/spot.ts',
    what: 'A job with an affinity of its own may run on other nodes than it requires.',
    from: 'wanted.map((one) => merged([term, one]))',
    to: '[term, ...wanted]',
    caughtBy: spot,
  },
  {
    id: 'training/spot-never-tolerates',
    file: 'src/plan/training/objects/spot.ts',
    what: 'A job that avoids spot nodes tolerates their taints.',
    from: "...(spot !== 'never' && {",
    to: '...(spot && {',
    caughtBy: spot,
  },
  {
    id: 'training/cost-no-spot-labels',
    file: 'src/plan/training/cost-config.ts',
    what: 'Without labels of spot nodes, scheduling.spot has no effect and nobody says so.',
    from: ' || Object.keys(spotLabels).length === 0',
    to: '',
    caughtBy: settings,
  },
  {
    id: 'reconcile/cost-counts-whole-job',
    file: 'src/reconcile/cost-counters.ts',
    what: 'A restarted operator counts the whole cost of existing jobs again.',
    from: 'now.gpuHours - before.gpuHours',
    to: 'now.gpuHours',
    caughtBy: counters,
  },
  {
    id: 'command/restore-held-cost',
    file: 'src/saved-object.ts',
    what: 'A restored job pays for the time between its backup and its restore.',
    from: 'return { ...status, cost }\n',
    to: 'return status\n',
    caughtBy: saved,
  },
]
