import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ProgressReport } from '../api/training-report.ts'
import { parseReportBody, ReportError, type ReportFormat } from './report-body.ts'

const parse = (body: unknown, format: ReportFormat = 'own') =>
  parseReportBody(typeof body === 'string' ? body : JSON.stringify(body), format)

const names = (count: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`m${index}`, index]))

describe('our body', () => {
  test('with every field', () => {
    const { report, ignored } = parse({
      epoch: 3,
      totalEpochs: 10,
      step: 1200,
      totalSteps: 4000,
      loss: 0.21,
      accuracy: 0.95,
      throughput: 512.3,
      metrics: { lr: 0.001 },
      checkpoint: { path: '/checkpoints/3', step: 1000 },
      time: '2026-01-01T00:00:00Z',
    })
    assert.deepEqual(ignored, [])
    assert.deepEqual(report, {
      epoch: 3,
      totalEpochs: 10,
      step: 1200,
      totalSteps: 4000,
      metrics: { lr: 0.001, loss: 0.21, accuracy: 0.95, throughput: 512.3 },
      checkpoint: { path: '/checkpoints/3', step: 1000 },
      time: Date.UTC(2026, 0, 1),
    })
  })

  const accepted: readonly [string, object, ProgressReport][] = [
    ['one field', { epoch: 0 }, { epoch: 0 }],
    ['fields that are null', { epoch: 1, step: null, loss: null, time: null }, { epoch: 1 }],
    ['unknown fields', { epoch: 1, other: {} }, { epoch: 1 }],
    ['32 metrics', { metrics: names(32) }, { metrics: names(32) }],
    ['a loss beside 32 metrics', { loss: 1, metrics: names(32) }, { metrics: { loss: 1, ...names(31) } }],
    ['a loss twice', { loss: 1, metrics: { loss: 2 } }, { metrics: { loss: 1 } }],
    ['names of libraries', { metrics: { 'eval/loss': 1 } }, { metrics: { 'eval/loss': 1 } }],
  ]
  for (const [name, body, report] of accepted) test(name, () => assert.deepEqual(parse(body).report, report))

  test('a number that is not finite is omitted with a reason', () => {
    const { report, ignored } = parse('{"epoch":1,"loss":1e999,"metrics":{"lr":-1e999}}')
    assert.deepEqual(report, { epoch: 1 })
    assert.deepEqual(ignored, ['loss is not a finite number', 'metrics.lr is not a finite number'])
  })

  const rejected: readonly [string, unknown, RegExp][] = [
    ['no JSON', 'epoch=3', /must be JSON/],
    ['NaN', '{"loss": NaN}', /omit values that are NaN/],
    ['a list', [], /must be a JSON object/],
    ['null', 'null', /must be a JSON object/],
    ['nothing', {}, /at least one of epoch/],
    ['nothing known', { other: 1, time: '2026-01-01T00:00:00Z' }, /at least one of epoch/],
    ['a negative epoch', { epoch: -1 }, /^epoch must be an integer/],
    ['half an epoch', { epoch: 0.5 }, /^epoch must be an integer/],
    ['a text as step', { step: '7' }, /^step must be an integer/],
    ['a huge epoch', { epoch: 2 ** 31 }, /^epoch must be an integer from 0 to 2147483647/],
    ['a text as loss', { loss: 'nan' }, /^loss must be a number/],
    ['a list of metrics', { metrics: [1] }, /^metrics must be an object/],
    ['33 metrics', { metrics: names(33) }, /^metrics must have at most 32 names/],
    ['a nested metric', { metrics: { a: {} } }, /^metrics.a must be a number/],
    ['a long name', { metrics: { [`a${'b'.repeat(63)}`]: 1 } }, /^names of metrics/],
    ['a reserved name', '{"metrics":{"__proto__":1}}', /^names of metrics/],
    ['an empty checkpoint', { checkpoint: {} }, /^checkpoint must be an object with a path/],
    ['a wrong time', { epoch: 1, time: 'now' }, /^time must be a time/],
  ]
  for (const [name, body, message] of rejected)
    test(name, () =>
      assert.throws(
        () => parse(body),
        (error: unknown) => error instanceof ReportError && message.test(error.message) && !/\n/.test(error.message),
      ),
    )
})

describe('the body of KEP-2779', () => {
  test('with every field', () => {
    const { report } = parse(
      {
        trainerStatus: {
          progressPercentage: 45,
          estimatedRemainingSeconds: 795_649,
          metrics: [
            { name: 'loss', value: '0.2347' },
            { name: 'eval_accuracy', value: '0.9876' },
          ],
          lastUpdatedTime: '2026-01-01T00:00:00Z',
        },
      },
      'kubeflow',
    )
    assert.deepEqual(report, {
      percent: 45,
      remainingSeconds: 795_649,
      metrics: { loss: 0.2347, eval_accuracy: 0.9876 },
      time: Date.UTC(2026, 0, 1),
    })
  })

  test('metrics that do not fit are omitted with a reason', () => {
    const many = Array.from({ length: 40 }, (_, index) => ({ name: `m${index}`, value: String(index) }))
    const metrics = [{ name: 'a b', value: '1' }, { name: 'loss', value: 'NaN' }, { name: 'x', value: '' }, ...many]
    const { report, ignored } = parse({ trainerStatus: { metrics } }, 'kubeflow')
    assert.equal(Object.keys(report.metrics ?? {}).length, 32)
    assert.equal(ignored.length, 3 + 8)
    assert.match(ignored[1] ?? '', /^trainerStatus.metrics\[1\] is not a finite number/)
  })

  const rejected: readonly [string, unknown, RegExp][] = [
    ['our body', { epoch: 1 }, /must have trainerStatus/],
    ['101 %', { trainerStatus: { progressPercentage: 101 } }, /progressPercentage must be a number from 0 to 100/],
    ['257 metrics', { trainerStatus: { metrics: Array.from({ length: 257 }, () => ({})) } }, /at most 256/],
    ['no list', { trainerStatus: { metrics: {} } }, /must be a list/],
  ]
  for (const [name, body, message] of rejected) test(name, () => assert.throws(() => parse(body, 'kubeflow'), message))
})
