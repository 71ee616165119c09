import type { Mutant } from '../mutant.ts'
import { contract } from '../oracles.ts'

const gatherServing = contract('src/reconcile/gather-serving.test.ts')

export const reconcileMutants: readonly Mutant[] = [
  {
    id: 'reconcile/finalizer-before-empty',
    file: 'src/reconcile/training.ts',
    what: 'The finalizer of a job is removed while its workers are still there.',
    from: 'if (done) await removeFinalizer(job, finalizer(context))',
    to: 'await removeFinalizer(job, finalizer(context))',
    caughtBy: contract('src/reconcile/training.test.ts'),
  },
  {
    id: 'reconcile/members-from-stale-cache',
    file: 'src/reconcile/gather-training.ts',
    what: 'A gang is restarted because a stale cache does not show its pods.',
    from: 'needsLiveRead(cached) ? withMembers(job, await deps.readMembers(job), deps) : cached',
    to: 'cached',
    caughtBy: contract('src/reconcile/gather-training.test.ts'),
  },
  {
    id: 'reconcile/ssh-key-format',
    file: 'src/reconcile/ssh-keys.ts',
    what: 'OpenSSH cannot read the public key of an MPI job.',
    from: '[Buffer.from(ALGORITHM), Buffer.from(CURVE), point]',
    to: '[Buffer.from(ALGORITHM), point]',
    caughtBy: contract('src/reconcile/ssh-keys.test.ts'),
  },
  {
    id: 'reconcile/pods-of-other-namespace',
    file: 'src/reconcile/serving-members.ts',
    what: 'Pods of another namespace that carry the uid of a model count as its own.',
    from: 'pod.metadata.namespace === namespace && ',
    to: '',
    caughtBy: gatherServing,
  },
  {
    id: 'reconcile/pods-not-selected',
    file: 'src/reconcile/serving-members.ts',
    what: 'A pod counts as one of a Deployment that does not select it.',
    from: ' && isSelectedBy(pod, deployment)',
    to: '',
    caughtBy: gatherServing,
  },
  {
    id: 'reconcile/pods-of-other-job',
    file: 'src/reconcile/serving-members.ts',
    what: 'Any pod with the label of a model counts as one of its validation.',
    from: 'jobs.some((job) => isControlledBy(pod, job))',
    to: 'jobs.length >= 0',
    caughtBy: gatherServing,
  },
  {
    id: 'reconcile/children-by-label',
    file: 'src/reconcile/serving-members.ts',
    what: 'A child of a model is known by its label, whoever controls it.',
    from: '.filter((object) => isControlledBy(object, model))',
    to: '.filter((object) => object.kind !== model.kind)',
    caughtBy: gatherServing,
  },
  {
    id: 'reconcile/rejection-reported-twice',
    file: 'src/reconcile/error-boundary.ts',
    what: 'A rejected write that is recorded in the status is reported by a second event.',
    from: 'if (trouble) return void (await reportFailures(() => record(trouble), where))',
    to: 'if (trouble) await reportFailures(() => record(trouble), where)',
    caughtBy: contract('src/reconcile/error-boundary.test.ts'),
  },
  {
    id: 'reconcile/stall-timer-restarts',
    file: 'src/reconcile/progress-watch.ts',
    what: 'The timeout of a stall starts again with the operator.',
    from: 'beforeMs: known ? 0 : recordedMs',
    to: 'beforeMs: 0 * recordedMs',
    caughtBy: contract('src/plan/training/steps/stall.test.ts'),
  },
]
