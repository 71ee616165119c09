import type { Mutant } from '../mutant.ts'
import { contract, trainingProperties } from '../oracles.ts'

const preparation = contract('src/plan/training/steps/preparation.test.ts')

export const trainingCheckpointMutants: readonly Mutant[] = [
  {
    id: 'training/preparation-skipped',
    file: 'src/plan/training/observe/resumption.ts',
    what: 'Attempts after the first start without listing the checkpoints.',
    from: 'if (!enabled || (attempt.number <= 1 && resumeFrom === undefined)) return false',
    to: 'if (!enabled || resumeFrom === undefined) return false',
    caughtBy: trainingProperties,
  },
  {
    id: 'training/gang-before-record',
    file: 'src/plan/training/steps/preparation.ts',
    what: 'The gang starts as soon as the pod that lists the checkpoints has ended, before its result is recorded.',
    from: 'if (result) return record(snapshot, result)',
    to: 'if (result) return undefined as never',
    caughtBy: trainingProperties,
  },
  {
    id: 'training/failed-listing-ignored',
    file: 'src/plan/training/steps/preparation.ts',
    what: 'A failure to list the checkpoints is taken for an empty storage.',
    from: "const result = member.phase === 'Succeeded' ? resultOf(member) : undefined",
    to: 'const result = isActive(member) ? undefined : (resultOf(member) ?? { count: 0, pruned: 0, imported: false, other: false })',
    caughtBy: preparation,
  },
  {
    id: 'training/invalid-checkpoint-chosen',
    file: 'src/plan/training/observe/preparation.ts',
    what: 'A name that is not one of a complete checkpoint is resumed from.',
    from: ' || !isCheckpointName(name)',
    to: '',
    caughtBy: preparation,
  },
  {
    id: 'training/unconfirmed-checkpoint-recorded',
    file: 'src/plan/training/observe/reported-checkpoint.ts',
    what: 'A checkpoint that is not uploaded to the bucket yet is recorded as the newest one.',
    from: ' || checkpointNameAt(job.spec, checkpoint.path) === undefined',
    to: '',
    caughtBy: contract('src/plan/training/report/checkpoint.test.ts'),
  },
]
