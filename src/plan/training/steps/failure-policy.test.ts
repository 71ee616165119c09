/** Exit code × policy × limit: what each combination leads to. */
import * as fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { trainingJob } from '../../../../test/sim/training-cluster.ts'
import type { Failure } from '../observe/failure.ts'
import { decideOn } from './failure-policy.ts'

const member = { role: 'worker', index: 0, attempt: 1, podName: 'bert-workers-0', phase: 'Failed' } as const
const failure = (more: Partial<Failure>): Failure => ({
  member,
  reason: 'Error',
  message: '',
  disrupted: false,
  at: 0,
  ...more,
})

const rules = (...entries: readonly [string, readonly number[], string?][]): object => ({
  failurePolicy: {
    rules: entries.map(([action, values, operator = 'In']) => ({ action, onExitCodes: { operator, values } })),
  },
})

type Expected = 'counted' | 'free' | 'BackoffLimitReached' | 'NonRetryableExit' | 'RestartPolicyNever'

const table: readonly {
  name: string
  spec?: object
  failures?: number
  given: Partial<Failure>
  expected: Expected
}[] = [
  { name: 'an exit code is a failure', given: { exitCode: 1 }, expected: 'counted' },
  { name: 'so is OOMKilled', given: { exitCode: 137, reason: 'OOMKilled' }, expected: 'counted' },
  { name: 'the last one that the limit allows', failures: 2, given: { exitCode: 1 }, expected: 'counted' },
  { name: 'one more than the limit allows', failures: 3, given: { exitCode: 1 }, expected: 'BackoffLimitReached' },
  { name: 'a limit of 0', spec: { backoffLimit: 0 }, given: { exitCode: 1 }, expected: 'BackoffLimitReached' },
  {
    name: 'a limit lowered below what has happened',
    spec: { backoffLimit: 1 },
    failures: 5,
    given: { exitCode: 1 },
    expected: 'BackoffLimitReached',
  },
  { name: 'no exit code is known', given: {}, expected: 'counted' },
  {
    name: 'restartPolicy Never',
    spec: { restartPolicy: 'Never' },
    given: { exitCode: 1 },
    expected: 'RestartPolicyNever',
  },
  {
    name: 'a rule precedes restartPolicy',
    spec: { restartPolicy: 'Never', ...rules(['Restart', [42]]) },
    given: { exitCode: 42 },
    expected: 'counted',
  },
  {
    name: 'restartPolicy where no rule matches',
    spec: { restartPolicy: 'Never', ...rules(['Restart', [42]]) },
    given: { exitCode: 1 },
    expected: 'RestartPolicyNever',
  },
  {
    name: 'a rule that fails at once',
    spec: rules(['Fail', [3]]),
    given: { exitCode: 3 },
    expected: 'NonRetryableExit',
  },
  { name: 'a rule about other codes', spec: rules(['Fail', [3]]), given: { exitCode: 4 }, expected: 'counted' },
  {
    name: 'a rule that does not count',
    spec: { backoffLimit: 0, ...rules(['Ignore', [75]]) },
    given: { exitCode: 75 },
    expected: 'free',
  },
  {
    name: 'the first rule that matches',
    spec: rules(['Ignore', [3]], ['Fail', [3]]),
    given: { exitCode: 3 },
    expected: 'free',
  },
  {
    name: 'none of the values',
    spec: rules(['Fail', [1, 2], 'NotIn']),
    given: { exitCode: 9 },
    expected: 'NonRetryableExit',
  },
  {
    name: 'one of the values that must not be',
    spec: rules(['Fail', [1, 2], 'NotIn']),
    given: { exitCode: 2 },
    expected: 'counted',
  },
  {
    name: 'a rule that restarts still counts',
    spec: rules(['Restart', [1]]),
    failures: 3,
    given: { exitCode: 1 },
    expected: 'BackoffLimitReached',
  },
  { name: 'rules are about exit codes', spec: rules(['Fail', [1], 'NotIn']), given: {}, expected: 'counted' },
  { name: 'a disruption', spec: { backoffLimit: 0 }, given: { disrupted: true }, expected: 'free' },
  { name: 'a disruption under Never', spec: { restartPolicy: 'Never' }, given: { disrupted: true }, expected: 'free' },
  {
    name: 'a disruption with an exit code that a rule calls final',
    spec: rules(['Fail', [137]]),
    given: { disrupted: true, exitCode: 137 },
    expected: 'free',
  },
]

for (const { name, spec = {}, failures = 0, given, expected } of table) {
  test(`${name}: ${expected}`, () => {
    const decision = decideOn({ ...trainingJob(spec), status: { failures } }, failure(given))
    const actual = decision.action === 'fail' ? decision.reason : decision.counted ? 'counted' : 'free'
    assert.equal(actual, expected)
  })
}

test('without rules, exactly backoffLimit failures are repaired', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10 }), fc.integer({ min: 1, max: 255 }), (backoffLimit, exitCode) => {
      let repaired = 0
      while (repaired < 20) {
        const job = { ...trainingJob({ backoffLimit }), status: { failures: repaired } }
        if (decideOn(job, failure({ exitCode })).action === 'fail') break
        repaired += 1
      }
      assert.equal(repaired, backoffLimit)
    }),
  )
})
