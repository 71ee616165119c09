import type { Mutant } from '../mutant.ts'
import { contract } from '../oracles.ts'

const release = contract('src/plan/training/steps/release.test.ts')
const choice = contract('src/plan/training/observe/gang-choice.test.ts')
const schedulers = contract('src/plan/training/gangs/contract.test.ts')

export const gangMutants: readonly Mutant[] = [
  {
    id: 'training/gang-release-without-record',
    file: 'src/plan/training/steps/release.ts',
    what: 'A gang gives its nodes back at once.',
    from: '!partial || untilRelease(snapshot) !== 0',
    to: '!partial',
    caughtBy: release,
  },
  {
    id: 'training/gang-release-same-time',
    file: 'src/plan/training/observe/partial-gang.ts',
    what: 'Every gang has the same pause after a release.',
    from: 'backoffLimitMs) * (1 + jitter(snapshot))',
    to: 'backoffLimitMs) * 0',
    caughtBy: release,
  },
  {
    id: 'training/gang-release-elastic',
    file: 'src/plan/training/observe/partial-gang.ts',
    what: 'An elastic gang that can train gives its nodes back.',
    from: ' || canTrain ? undefined',
    to: ' ? undefined',
    caughtBy: release,
  },
  {
    id: 'training/gang-release-beside-scheduler',
    file: 'src/plan/training/observe/partial-gang.ts',
    what: 'A gang that a gang scheduler places gives its nodes back.',
    from: ' || gangChoice(observed, attempt).scheduler.placesTogether',
    to: '',
    caughtBy: release,
  },
  {
    id: 'training/gang-releases-kept',
    file: 'src/plan/training/report/scheduling.ts',
    what: 'A gang that runs does not forget its releases.',
    from: "isReady || state === 'Suspended' ? undefined",
    to: "state === 'Suspended' ? undefined",
    caughtBy: release,
  },
  {
    id: 'training/gang-unserved-created',
    file: 'src/plan/training/lifecycle.ts',
    what: 'Pods are created for a gang scheduler that the cluster does not have.',
    from: '  awaitScheduler,\n',
    to: '',
    caughtBy: choice,
  },
  {
    id: 'training/gang-choice-moves',
    file: 'src/plan/training/observe/gang-choice.ts',
    what: 'A running gang follows an edit of its gang scheduler.',
    from: 'hasStartedPod(observed) || ',
    to: '',
    caughtBy: choice,
  },
  {
    id: 'training/gang-group-after-pods',
    file: 'src/plan/training/steps/run.ts',
    what: 'The pods are created before their PodGroup.',
    from: "[...secrets, ...childrenOf(observed, attempt), ...toWrite('apply', objects)]",
    to: "[...secrets, ...toWrite('apply', objects), ...childrenOf(observed, attempt)]",
    caughtBy: schedulers,
  },
  {
    id: 'training/gang-group-stays',
    file: 'src/plan/training/steps/step.ts',
    what: 'The PodGroup of a finished job stays.',
    from: "const isOver = isFinal(state) || state === 'Suspended'",
    to: "const isOver = state === 'Suspended'",
    caughtBy: schedulers,
  },
  {
    id: 'training/gang-needs-all',
    file: 'src/plan/training/observe/gang-choice.ts',
    what: 'An elastic gang waits for all its workers.',
    from: 'isElastic(spec) ? Math.min',
    to: 'false ? Math.min',
    caughtBy: schedulers,
  },
]
