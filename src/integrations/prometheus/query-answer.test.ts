import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { parseAnswer, PrometheusError } from './query-answer.ts'

const vector = (...result: readonly unknown[]): string =>
  JSON.stringify({ status: 'success', data: { resultType: 'vector', result } })
const sample = (value: unknown) => ({ metric: {}, value: [1, value] })

const numbers: readonly (readonly [string, string, number | undefined])[] = [
  ['a number', vector(sample('12.5')), 12.5],
  ['an exponent', vector(sample('1e-3')), 0.001],
  ['no series', vector(), undefined],
  ['NaN', vector(sample('NaN')), undefined],
  ['infinity', vector(sample('+Inf')), undefined],
  ['minus infinity', vector(sample('-Inf')), undefined],
  ['a scalar', '{"status":"success","data":{"resultType":"scalar","result":[1,"7"]}}', 7],
]
for (const [what, text, expected] of numbers)
  test(`reads ${what}`, () => assert.equal(parseAnswer(200, text), expected))

const problems: readonly (readonly [string, number, string, RegExp])[] = [
  ['no JSON', 200, '<html>', /^answers with something other than JSON$/],
  ['nothing', 200, '', /something other than JSON/],
  ['null', 200, 'null', /something other than JSON/],
  ['a list', 200, '[]', /something other than JSON/],
  ['a failure', 500, '', /^answers with 500$/],
  ['a redirect', 302, '', /^answers with 302$/],
  [
    'a rejected query',
    400,
    '{"status":"error","errorType":"bad_data","error":"1:3: parse error"}',
    /^answers with 400: 1:3: parse/,
  ],
  ['an error with a good code', 200, '{"status":"error","error":"x"}', /^answers with 200: x$/],
  ['two series', 200, vector(sample('1'), sample('2')), /answers with 2 series instead of one: aggregate/],
  ['a matrix', 200, '{"status":"success","data":{"resultType":"matrix","result":[]}}', /other than a number/],
  [
    'a vector that is no list',
    200,
    '{"status":"success","data":{"resultType":"vector","result":{}}}',
    /other than a number/,
  ],
  ['no data', 200, '{"status":"success"}', /other than a number/],
  ['a number that is none', 200, vector(sample('twelve')), /other than a number/],
  ['an empty number', 200, vector(sample(' ')), /other than a number/],
  ['a bare number', 200, vector(sample(5)), /other than a number/],
  ['a series without a value', 200, vector({ metric: {} }), /other than a number/],
  ['null as a series', 200, vector(null), /other than a number/],
]
for (const [what, status, text, message] of problems)
  test(`refuses ${what}`, () =>
    assert.throws(
      () => parseAnswer(status, text),
      (error) => error instanceof PrometheusError && message.test(error.message),
    ))

test('any answer is a finite number, none, or an error with its reason', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 100, max: 599 }),
      fc.oneof(
        fc.string(),
        fc.json(),
        fc.jsonValue().map((value) => vector(value)),
      ),
      (status, text) => {
        try {
          const value = parseAnswer(status, text)
          assert.ok(value === undefined || Number.isFinite(value))
        } catch (error) {
          assert.ok(error instanceof PrometheusError && error.message.length < 300)
        }
      },
    ),
  )
})
