import type { Mutant } from '../mutant.ts'
import { contract, properties } from '../oracles.ts'

const quota = contract('src/plan/training/steps/quota.test.ts')
const crashes = contract('src/plan/training/steps/quota.crash.test.ts')
const histories = properties('src/plan/training/steps/quota.properties.test.ts')

export const quotaMutants: readonly Mutant[] = [
  {
    id: 'training/quota-start-before-admission',
    file: 'src/plan/training/steps/quota.ts',
    what: 'Pods are created while the job waits for quota.',
    from: '  return wait(snapshot, standing)\n',
    to: '  return undefined\n',
    caughtBy: quota,
  },
  {
    id: 'training/quota-start-before-record',
    file: 'src/plan/training/steps/quota.ts',
    what: 'Pods are created before their quota is recorded.',
    from: "  if (standing.state === 'granted') return record(snapshot, standing)\n",
    to: "  if (standing.state === 'granted') return undefined\n",
    caughtBy: quota,
  },
  {
    id: 'training/quota-released-with-pods',
    file: 'src/plan/training/lifecycle.ts',
    what: 'Quota is given back while pods still use it, so it is used twice.',
    from: '  removeStale,\n  awaitScheduler,\n  awaitQuota,\n',
    to: '  awaitQuota,\n  removeStale,\n  awaitScheduler,\n',
    caughtBy: crashes,
  },
  {
    id: 'training/quota-eviction-ignored',
    file: 'src/plan/training/lifecycle.ts',
    what: 'Pods run on although their quota is taken back.',
    from: '  vacate,\n',
    to: '',
    caughtBy: quota,
  },
  {
    id: 'training/quota-reclaimed-used-again',
    file: 'src/plan/training/gangs/kueue/kueue.ts',
    what: 'A gang restarts with quota that it has given back.',
    from: ' && (status?.reclaimablePods ?? []).length === 0',
    to: '',
    caughtBy: quota,
  },
  {
    id: 'training/quota-reclaim-forgotten',
    file: 'src/plan/training/report/group.ts',
    what: 'Workers that have ended keep their quota.',
    from: "member.phase === 'Succeeded' && !hasActivePod(member)",
    to: "member.phase === 'Failed' && !hasActivePod(member)",
    caughtBy: quota,
  },
  {
    id: 'training/quota-finish-forgotten',
    file: 'src/plan/training/report/group.ts',
    what: 'A job that has ended keeps its quota.',
    from: '  if (isFinished(job)) return all.some(hasActivePod) ? undefined : endOf(status)\n',
    to: '  if (isFinished(job)) return undefined\n',
    caughtBy: quota,
  },
  {
    id: 'training/quota-finish-early',
    file: 'src/plan/training/report/group.ts',
    what: 'A job gives its quota back while some of its pods still run.',
    from: 'all.some(hasActivePod) ? undefined : endOf(status)',
    to: 'endOf(status)',
    caughtBy: quota,
  },
  {
    id: 'training/quota-edited-workload',
    file: 'src/plan/training/gangs/kueue/kueue.ts',
    what: 'A Workload that was edited to ask for less starts the whole gang.',
    from: 'demand(spec) === demand(wanted)',
    to: 'demand(spec) !== undefined',
    caughtBy: histories,
  },
  {
    id: 'training/quota-other-workload',
    file: 'src/plan/training/observe/quota.ts',
    what: 'Pods run on with the quota of a Workload that is gone.',
    from: "  if (!group) return { state: 'lost', reason: 'WorkloadDeleted', message: 'its Workload was deleted' }\n",
    to: "  if (!group) return { state: 'held', group: { apiVersion: '', kind: '', metadata: { name: '' } } }\n",
    caughtBy: quota,
  },
]
