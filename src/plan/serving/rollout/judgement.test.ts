import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Analysis } from '../../../api/serving-rollout.ts'
import type { Figures } from './figures.ts'
import { judge, type Judgement } from './judgement.ts'

const analysis = (limits: Partial<Analysis>): Analysis => ({
  minRequests: 50,
  intervalSeconds: 60,
  failureLimit: 1,
  noTraffic: 'Wait',
  watchSeconds: 300,
  ...limits,
})

const of = (requests: number, errors: number, latencyMs: number): Figures => ({
  requests,
  errors,
  latencyMs: latencyMs * requests,
})

const judged = (limits: Partial<Analysis>, v2: Figures, more: object = {}, v1: Figures = of(900, 9, 10)): Judgement =>
  judge(analysis(limits), {
    figures: new Map([
      ['v1', v1],
      ['v2', v2],
    ]),
    candidates: ['v2'],
    stable: ['v1'],
    isLast: false,
    recorded: {},
    ...more,
  })

const table: readonly (readonly [string, Partial<Analysis>, Figures, Judgement['result']])[] = [
  ['an error rate at its limit', { maxErrorRate: '29%' }, of(100, 29, 1), 'Pass'],
  ['an error rate above its limit', { maxErrorRate: '29%' }, of(100, 30, 1), 'Fail'],
  ['a fraction of a percent', { maxErrorRate: '0.1%' }, of(1000, 2, 1), 'Fail'],
  ['no errors, and none allowed', { maxErrorRate: '0%' }, of(1000, 0, 1), 'Pass'],
  ['errors relative to the stable version', { maxErrorRateRatio: '200%' }, of(100, 2, 1), 'Pass'],
  ['more errors relative to the stable version', { maxErrorRateRatio: '200%' }, of(100, 3, 1), 'Fail'],
  ['a latency at its limit', { maxLatencyMs: 30 }, of(100, 0, 30), 'Pass'],
  ['a latency above its limit', { maxLatencyMs: 30 }, of(100, 0, 31), 'Fail'],
  ['a latency relative to the stable version', { maxLatencyRatio: '150%' }, of(100, 0, 15), 'Pass'],
  ['a higher latency relative to the stable version', { maxLatencyRatio: '150%' }, of(100, 0, 16), 'Fail'],
  ['one of two limits', { maxLatencyMs: 100, maxErrorRate: '1%' }, of(100, 2, 1), 'Fail'],
  ['too few requests, although all failed', { maxErrorRate: '1%' }, of(49, 49, 1), 'Inconclusive'],
  ['no requests', { maxErrorRate: '1%' }, of(0, 0, 0), 'Inconclusive'],
  ['no requests, which pass', { maxErrorRate: '1%', noTraffic: 'Pass' }, of(0, 0, 0), 'Pass'],
  ['no requests, which fail', { maxErrorRate: '1%', noTraffic: 'Fail' }, of(0, 0, 0), 'Fail'],
  ['too few requests, where none pass', { maxErrorRate: '1%', noTraffic: 'Pass' }, of(1, 0, 0), 'Inconclusive'],
]

for (const [name, limits, figures, result] of table)
  test(`${name}: ${result}`, () => assert.equal(judged(limits, figures).result, result))

test('a relative limit waits for requests of the stable version, as long as it gets some', () => {
  const few = of(10, 0, 10)
  const limits = { maxLatencyRatio: '150%' }
  assert.deepEqual(judged(limits, of(100, 0, 99), {}, few), { result: 'Inconclusive', lacking: 'v1' })
  const recorded = { stableErrorRate: 0, stableLatencyMs: 10 }
  assert.equal(judged(limits, of(100, 0, 99), { recorded, isLast: true }, of(0, 0, 0)).result, 'Fail')
  assert.equal(judged(limits, of(100, 0, 99), { isLast: true }, of(0, 0, 0)).result, 'Pass', 'nothing to compare with')
})

test('a failure names the version, the metric, its value and its limit', () => {
  const { version, metric, value, threshold } = judged({ maxErrorRate: '1.5%' }, of(200, 41, 1))
  assert.deepEqual([version, metric, value, threshold], ['v2', 'errorRate', 20.5, 1.5])
})
