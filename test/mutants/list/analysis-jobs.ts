import type { Mutant } from '../mutant.ts'
import { contract, servingHistories } from '../oracles.ts'

const FILE = 'src/plan/serving/rollout/analysis-jobs.ts'
const judged = contract('src/plan/serving/rollout/analysis-jobs.test.ts')

export const analysisJobMutants: readonly Mutant[] = [
  {
    id: 'serving/analysis-job-runs-again',
    file: FILE,
    what: 'A Job runs again although its result is recorded.',
    from: '.filter((run) => !state.jobs?.some(isOf(run)))',
    to: '.filter((run) => run.step > 0 || !state.jobs?.some(isOf(run)))',
    caughtBy: judged,
  },
  {
    id: 'serving/analysis-job-too-early',
    file: FILE,
    what: 'A Job starts before the weights of its step are in effect.',
    from: 'state.inEffectSince === undefined || state.reason === FAILED',
    to: 'state.reason === FAILED',
    caughtBy: servingHistories,
  },
  {
    id: 'serving/analysis-job-not-awaited',
    file: 'src/plan/serving/rollout/advance.ts',
    what: 'A step passes while its Job runs.',
    from: 'if (waitsFor !== undefined) return stay(',
    to: "if (waitsFor === '') return stay(",
    caughtBy: judged,
  },
  {
    id: 'serving/analysis-job-failure-ignored',
    file: FILE,
    what: 'A Job that failed passes.',
    from: "const result = verdict === 'failed' ? 'Fail' : 'Pass'",
    to: "const result = verdict === 'failed' && version === '' ? 'Fail' : 'Pass'",
    caughtBy: judged,
  },
  {
    id: 'serving/analysis-job-of-every-step',
    file: 'src/plan/model-names.ts',
    what: 'All steps share one Job.',
    from: '`-r${revision}-s${step}-${digest}`',
    to: '`-r${revision}-s${step > 0 ? 1 : 0}-${digest}`',
    caughtBy: judged,
  },
  {
    id: 'serving/analysis-job-deleted-early',
    file: 'src/plan/serving/objects/children.ts',
    what: 'A Job is deleted while it runs.',
    from: 'for (const name of keptJobs(view)) kept.add(`Job/${name}`)',
    to: 'for (const name of keptJobs(view)) kept.add(`Jobs/${name}`)',
    caughtBy: judged,
  },
  {
    id: 'serving/analysis-job-needs-requests',
    file: 'src/plan/serving/rollout/judgement.ts',
    what: 'An analysis by Jobs alone waits for requests.',
    from: '(analysis.metrics?.some(isQueryMetric) ?? false)',
    to: 'analysis.metrics !== undefined',
    caughtBy: judged,
  },
  {
    id: 'serving/analysis-job-while-paused',
    file: FILE,
    what: 'A Job starts while the rollout is paused.',
    from: 'if (!travel || travel.isNew || travel.spec.isPaused) return []',
    to: 'if (!travel || travel.isNew) return []',
    caughtBy: judged,
  },
]
