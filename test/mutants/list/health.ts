import type { Mutant } from '../mutant.ts'
import { contract, histories } from '../oracles.ts'

const lives = histories('src/plan/serving/steps/eviction.histories.test.ts')
const table = contract('src/plan/serving/steps/eviction.test.ts')
const requests = contract('src/integrations/health-request.test.ts')
const checks = contract('src/integrations/health-checks.test.ts')
const targets = contract('src/reconcile/health-targets.test.ts')
const committed = contract('src/runtime/evictions.test.ts')

export const healthMutants: readonly Mutant[] = [
  {
    id: 'serving/evict-last-ready',
    file: 'src/plan/serving/steps/eviction.ts',
    what: 'The last ready pod of a version is evicted.',
    from: 'if (version.pods.some((other) => other !== pod && isPodReady(other))) return true',
    to: 'if (version.pods.some(isPodReady)) return true',
    caughtBy: lives,
  },
  {
    id: 'serving/evict-without-backoff',
    file: 'src/plan/serving/steps/eviction.ts',
    what: 'Sick pods are evicted one after another without a delay.',
    from: 'if (allowedAt > now) return',
    to: 'if (allowedAt > Infinity) return',
    caughtBy: lives,
  },
  {
    id: 'serving/evict-without-cap',
    file: 'src/plan/serving/steps/eviction.ts',
    what: 'Any number of pods is evicted one after another.',
    from: 'count >= MAX_EVICTIONS ? FORGET_MS : ',
    to: '',
    caughtBy: table,
  },
  {
    id: 'serving/evict-unrecorded',
    file: 'src/plan/serving/steps/eviction.ts',
    what: 'A pod is evicted by the plan that decides it.',
    from: 'return { evicting: { pod: pod.metadata.name,',
    to: 'return { evict: pod, evicting: { pod: pod.metadata.name,',
    caughtBy: lives,
  },
  {
    id: 'serving/evict-recovered',
    file: 'src/plan/serving/steps/eviction.ts',
    what: 'A pod that recovered is evicted.',
    from: 'hasRecovered(view, version, due) || ',
    to: '',
    caughtBy: table,
  },
  {
    id: 'serving/evict-while-starting',
    file: 'src/plan/serving/steps/eviction.ts',
    what: 'A pod is evicted before the replacement of the last one is ready.',
    from: 'isRolling(version) || isStarting(version, sick)',
    to: 'isRolling(version)',
    caughtBy: table,
  },
  {
    id: 'serving/sick-without-trust',
    file: 'src/plan/serving/observe/pod-health.ts',
    what: 'A ready pod that never passed a check of the operator counts as sick.',
    from: ' && (health.hasPassed || !isPodReady(pod))',
    to: '',
    caughtBy: table,
  },
  {
    id: 'integrations/health-unreachable-fails',
    file: 'src/integrations/health-checks.ts',
    what: 'A pod that cannot be connected to counts as failing.',
    from: "if (result.outcome === 'failed') {",
    to: "if (result.outcome !== 'passed') {",
    caughtBy: checks,
  },
  {
    id: 'integrations/health-any-address',
    file: 'src/integrations/health-checks.ts',
    what: 'The operator connects to any address that a pod reports.',
    from: 'accepts: isPodAddress,',
    to: 'accepts: () => true,',
    caughtBy: checks,
  },
  {
    id: 'integrations/health-no-limit',
    file: 'src/integrations/health-checks.ts',
    what: 'A model with slow pods holds any number of connections.',
    from: ' || model.running >= maxRunningOfModel',
    to: '',
    caughtBy: checks,
  },
  {
    id: 'integrations/health-unbounded',
    file: 'src/integrations/health-request.ts',
    what: 'An answer without end is read to its end.',
    from: 'if (length > MAX_ANSWER) socket.destroy()',
    to: '',
    caughtBy: requests,
  },
  {
    id: 'integrations/health-request-splitting',
    file: 'src/integrations/health-request.ts',
    what: 'A path with a line break adds headers to the request.',
    from: 'if (!isRequestPath(path)) return Promise.resolve(UNREACHABLE)',
    to: '',
    caughtBy: requests,
  },
  {
    id: 'reconcile/health-of-node',
    file: 'src/reconcile/health-targets.ts',
    what: 'A pod on the network of its node makes the operator call the node.',
    from: 'status.podIP !== status.hostIP &&',
    to: '',
    caughtBy: targets,
  },
  {
    id: 'reconcile/health-while-loading',
    file: 'src/plan/serving/observe/pod-health.ts',
    what: 'A pod that loads its model is checked.',
    from: 'changedAt > startedAt',
    to: 'changedAt > 0',
    caughtBy: targets,
  },
  {
    id: 'runtime/evict-before-status',
    file: 'src/runtime/commit.ts',
    what: 'A pod is evicted in the pass that records it.',
    from: 'if (!isChanged) await evictPods(pass, deletions)',
    to: 'if (isChanged) await evictPods({ ...pass, demandCurrent: async () => undefined }, deletions)',
    caughtBy: committed,
  },
  {
    id: 'runtime/evict-foreign',
    file: 'src/runtime/deletions.ts',
    what: 'A pod that the owner does not control is evicted.',
    from: 'object.metadata.deletionTimestamp === undefined && isOurs(object)',
    to: 'object.metadata.deletionTimestamp === undefined && isOurs !== undefined',
    caughtBy: committed,
  },
  {
    id: 'runtime/evict-budget-error',
    file: 'src/runtime/deletions.ts',
    what: 'A PodDisruptionBudget that protects a pod ends the pass with an error.',
    from: '!isBudgetExhausted(error) && ',
    to: 'isBudgetExhausted(error) || ',
    caughtBy: committed,
  },
]
