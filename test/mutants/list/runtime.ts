import type { Mutant } from '../mutant.ts'
import { contract } from '../oracles.ts'
import { cacheMutants, intentMutants } from './runtime-cache.ts'
import { commitMutants, processMutants } from './runtime-writes.ts'

const queue = contract('src/runtime/workqueue.test.ts')
const controller = contract('src/runtime/controller.test.ts')
const errors = contract('src/runtime/errors.test.ts')

const queueMutants: readonly Mutant[] = [
  {
    id: 'runtime/queue-hands-out-twice',
    file: 'src/runtime/workqueue.ts',
    what: 'A key is handed out again while it is in work.',
    from: 'if (this.#processing.has(id)) this.#dirty',
    to: 'if (this.#dirty.has(id)) this.#dirty',
    caughtBy: queue,
  },
  {
    id: 'runtime/queue-loses-dirty',
    file: 'src/runtime/workqueue.ts',
    what: 'A change that arrives while its key is in work is lost.',
    from: 'if (added) this.add(key, added.priority, added.wake)',
    to: '',
    caughtBy: queue,
  },
  {
    id: 'runtime/queue-no-backoff',
    file: 'src/runtime/workqueue.ts',
    what: 'A key that failed is retried at once.',
    from: 'this.#fail(key, backoffMs(this.#backoff, this.#failureCount(key) + 1, this.#random()))',
    to: 'this.#fail(key, 0)',
    caughtBy: queue,
  },
  {
    id: 'runtime/queue-counts-no-failures',
    file: 'src/runtime/workqueue.ts',
    what: 'The backoff does not grow with failures in a row.',
    from: 'backoffMs(this.#backoff, this.#failureCount(key) + 1, ',
    to: 'backoffMs(this.#backoff, 1, ',
    caughtBy: queue,
  },
  {
    id: 'runtime/queue-unfair',
    file: 'src/runtime/lane.ts',
    what: 'A namespace with many keys is served until it has none left.',
    from: 'if (this.#served !== undefined) this.#turns.push(this.#served)\n    this.#served = this.#turns.shift()',
    to: 'this.#served ??= this.#turns.shift()',
    caughtBy: queue,
  },
  {
    id: 'runtime/queue-background-starves',
    file: 'src/runtime/workqueue.ts',
    what: 'Background work starves while users are busy.',
    from: 'return turn && !background.isEmpty ? background : user',
    to: 'return turn && background.isEmpty ? background : user',
    caughtBy: queue,
  },
  {
    id: 'runtime/queue-latest-wins',
    file: 'src/runtime/workqueue.ts',
    what: 'A later delayed add replaces an earlier one.',
    from: 'if (waiting && waiting.at <= at) return',
    to: '',
    caughtBy: queue,
  },
  {
    id: 'runtime/queue-user-not-lifted',
    file: 'src/runtime/workqueue.ts',
    what: 'A user change does not lift a key that waits as background work.',
    from: "waiting?.priority === priority || waiting?.priority === 'user'",
    to: 'waiting',
    caughtBy: queue,
  },
]

const controllerMutants: readonly Mutant[] = [
  {
    id: 'runtime/controller-ignores-staleness',
    file: 'src/runtime/controller.ts',
    what: 'A reconcile starts although the caches do not show its own last writes.',
    from: 'if (!stale) return false',
    to: 'if (!stale || stale) return false',
    caughtBy: controller,
  },
  {
    id: 'runtime/controller-frees-key-on-timeout',
    file: 'src/runtime/controller.ts',
    what: 'A key is free again at its time limit, although the old run still writes.',
    from: 'void run.then(() => {\n      this.#running.delete(abort)',
    to: 'void Promise.resolve().then(() => {\n      this.#running.delete(abort)',
    caughtBy: controller,
  },
  {
    id: 'runtime/controller-retries-permanent',
    file: 'src/runtime/controller.ts',
    what: 'A permanent error is retried for ever.',
    from: "if (retry === 'never') return void queue.hold(key)",
    to: "if (retry === 'never') return queue.retry(key)",
    caughtBy: controller,
  },
  {
    id: 'runtime/controller-drops-requeue',
    file: 'src/runtime/controller.ts',
    what: 'A requested requeue is dropped.',
    from: 'queue.addAfter(key, requeueAfterMs)',
    to: '',
    caughtBy: controller,
  },
  {
    id: 'runtime/controller-keeps-failures',
    file: 'src/runtime/controller.ts',
    what: 'A success does not end the row of failures.',
    from: 'queue.forget(key)\n    this.#foreign.release(key)',
    to: 'this.#foreign.release(key)',
    caughtBy: controller,
  },
  {
    id: 'runtime/controller-no-abort',
    file: 'src/runtime/controller.ts',
    what: 'Losing the lead does not end the running reconciles.',
    from: 'for (const running of this.#running.keys()) running.abort(reason)',
    to: '',
    caughtBy: controller,
  },
  {
    id: 'runtime/gate-open',
    file: 'src/runtime/gate.ts',
    what: 'A process without the lease may write.',
    from: 'mayWrite() || exempt(call)',
    to: 'mayWrite() || exempt(call) || !exempt(call)',
    caughtBy: contract('src/runtime/gate.test.ts'),
  },
  {
    id: 'runtime/gate-blocks-lease',
    file: 'src/runtime/gate.ts',
    what: 'The election cannot write its own lease.',
    from: ' || exempt(call)',
    to: '',
    caughtBy: contract('src/runtime/gate.test.ts'),
  },
  {
    id: 'runtime/backoff-jitter',
    file: 'src/runtime/backoff.ts',
    what: 'The backoff exceeds its maximum.',
    from: 'Math.min(policy.maxMs, policy.baseMs * growth)',
    to: 'policy.baseMs * growth',
    caughtBy: contract('src/runtime/backoff.test.ts'),
  },
  {
    id: 'runtime/slow-start-all-at-once',
    file: 'src/runtime/slow-start.ts',
    what: 'A thousand writes that fail are all sent.',
    from: 'let width = 1;',
    to: 'let width = WIDEST;',
    caughtBy: contract('src/runtime/slow-start.test.ts'),
  },
  {
    id: 'runtime/slow-start-leaves-others',
    file: 'src/runtime/slow-start.ts',
    what: 'Writes continue after the caller got an error.',
    from: 'await Promise.allSettled(promises)',
    to: '',
    caughtBy: contract('src/runtime/slow-start.test.ts'),
  },
  {
    id: 'runtime/token-buckets-unlimited',
    file: 'src/runtime/token-buckets.ts',
    what: 'A key that is over its rate is granted more.',
    from: 'const granted = tokens >= 1',
    to: 'const granted = tokens >= 0',
    caughtBy: contract('src/runtime/token-buckets.test.ts'),
  },
  {
    id: 'runtime/errors-quota-permanent',
    file: 'src/runtime/errors.ts',
    what: 'A quota that is exceeded is never retried.',
    from: "QuotaExceeded: { class: 'external', retry: 'backoff'",
    to: "QuotaExceeded: { class: 'external', retry: 'never'",
    caughtBy: errors,
  },
  {
    id: 'runtime/errors-terminating-namespace',
    file: 'src/runtime/errors.ts',
    what: 'A terminating namespace is taken for missing permissions.',
    from: "if (hasCause(error, 'NamespaceTerminating')) return 'NamespaceTerminating'",
    to: '',
    caughtBy: errors,
  },
]

export const runtimeMutants: readonly Mutant[] = [
  ...cacheMutants,
  ...queueMutants,
  ...controllerMutants,
  ...intentMutants,
  ...commitMutants,
  ...processMutants,
]
