/** Every selector gets the matcher, or the query is refused. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { scopedQuery } from './scoped-query.ts'

const scope = { namespace: 'a' }
const M = 'namespace="a"'
const scoped = (query: string): string => {
  const result = scopedQuery(query, scope)
  return 'query' in result ? result.query : `! ${result.problem}`
}

const accepted: readonly (readonly [string, string])[] = [
  ['up', `up{${M}}`],
  ['up{}', `up{${M}}`],
  ['up{job="x"}', `up{${M},job="x"}`],
  ['up{job=~"a|b", env!=\'c\',}', `up{${M},job=~"a|b", env!='c',}`],
  ['{__name__=~"a.*"}', `{${M},__name__=~"a.*"}`],
  ['up{namespace="b"}', `up{${M},namespace="b"}`],
  ['sum(rate(a_total[5m])) / sum(rate(b_total[5m]))', `sum(rate(a_total{${M}}[5m])) / sum(rate(b_total{${M}}[5m]))`],
  ['sum by (le, pod) (a)', `sum by (le, pod) (a{${M}})`],
  ['sum(a) without (pod)', `sum(a{${M}}) without (pod)`],
  ['topk(1, a)', `topk(1, a{${M}})`],
  ['a / on (x) group_left (y) b', `a{${M}} / on (x) group_left (y) b{${M}}`],
  ['a > bool 5 or vector(0)', `a{${M}} > bool 5 or vector(0)`],
  ['a and b unless c', `a{${M}} and b{${M}} unless c{${M}}`],
  ['-a + +1.5e-3', `-a{${M}} + +1.5e-3`],
  ['a offset 5m - a offset -1h30m', `a{${M}} offset 5m - a{${M}} offset -1h30m`],
  ['job:errors:rate5m{x=`}`}', `job:errors:rate5m{${M},x=\`}\`}`],
  [
    'histogram_quantile(0.99, sum by (le) (increase(b[60s])))',
    `histogram_quantile(0.99, sum by (le) (increase(b{${M}}[60s])))`,
  ],
  ['max_over_time(a[1h]) * 2', `max_over_time(a{${M}}[1h]) * 2`],
  ['a{x="\\"}"}', `a{${M},x="\\"}"}`],
]
for (const [query, expected] of accepted) test(`restricts ${query}`, () => assert.equal(scoped(query), expected))

const refused: readonly string[] = [
  '',
  '   ',
  'a # b',
  'a[5m:1m]',
  'a @ 5',
  'a @ start()',
  'label_replace(a, "namespace", "a", "", "")',
  'info(a)',
  'count_values("x", a)',
  // Prometheus takes these for names of series, too.
  'and',
  'a and and',
  'sum',
  'by',
  'offset',
  'SUM(a)',
  'SUM by (x) (a)',
  'sum(or)',
  'on',
  'inf',
  'NaN',
  'a b',
  'a{x="y" or z="w"}',
  'a{"b"}',
  '{"b", x="y"}',
  'a{x}',
  'a{x="y"',
  'a{x=y}',
  'a[5m',
  'a[5]',
  'a)',
  '(a',
  'sum(a) by (x) by (y)',
  'sum by x (a)',
  'WITH (x = a) x',
  'a{x="y\n"}',
  'a\u00A0',
  ';',
  'a{namespace="b"}[5m] )',
  `${'('.repeat(100)}a${')'.repeat(100)}`,
  'a'.repeat(10_000),
]
for (const query of refused)
  test(`refuses ${JSON.stringify(query.slice(0, 40))}`, () => assert.match(scoped(query), /^! /))

test('values of matchers are quoted', () => {
  assert.deepEqual(scopedQuery('up', { a: 'b"\\', c: 'd' }), { query: 'up{a="b\\"\\\\",c="d"}' })
})

const name = fc.stringMatching(/^[a-z_][a-z0-9_:]{2,8}$/).filter((word) => scoped(word).startsWith(word))
const label = fc.stringMatching(/^[a-z_][a-z0-9_]{0,6}$/)
const text = fc.string({ maxLength: 6 }).map((value) => JSON.stringify(value))
const matcher = fc.tuple(label, fc.constantFrom('=', '!=', '=~', '!~'), text).map((parts) => parts.join(''))
/** A query, and the same with the matchers where they belong: written twice, so that the parser is not its own oracle. */
type Pair = readonly [query: string, restricted: string]

const selector: fc.Arbitrary<Pair> = fc.oneof(
  name.map((own): Pair => [own, `${own}{${M}}`]),
  fc
    .tuple(name, fc.array(matcher, { maxLength: 3 }))
    .map(([own, list]): Pair => [`${own}{${list.join(',')}}`, `${own}{${[M, ...list].join(',')}}`]),
)
const around = (inner: fc.Arbitrary<Pair>, put: (text: string) => string): fc.Arbitrary<Pair> =>
  inner.map(([query, restricted]) => [put(query), put(restricted)])
const { query: anyQuery } = fc.letrec<{ query: Pair }>((tie) => ({
  query: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    selector,
    around(selector, (one) => `rate(${one}[5m])`),
    around(tie('query'), (one) => `sum by (le) (${one})`),
    around(tie('query'), (one) => `max(${one}) without (pod)`),
    around(tie('query'), (one) => `-(${one} * 2)`),
    fc
      .tuple(tie('query'), fc.constantFrom('+', '/', 'and', 'or', '> bool', '* on (x) group_left (y)'), tie('query'))
      .map(([[one, other], sign, [two, second]]): Pair => [`${one} ${sign} ${two}`, `${other} ${sign} ${second}`]),
  ),
}))

test('every selector of any query gets the matcher, and nothing else changes', () => {
  fc.assert(
    fc.property(anyQuery, ([query, restricted]) => assert.equal(scoped(query), restricted)),
    { numRuns: 2_000 },
  )
})

test('any text is restricted or refused, and a restricted one is restricted again in the same places', () => {
  const pieces = fc.constantFrom(
    'sum',
    'by',
    '(',
    ')',
    '{',
    '}',
    'a',
    'b',
    '"x"',
    '=',
    ',',
    '[5m]',
    'or',
    ' ',
    '-',
    'offset',
    '5m',
    '1',
    'on',
    '@',
    '#',
    '`',
  )
  fc.assert(
    fc.property(fc.array(fc.oneof(pieces, fc.string({ maxLength: 3 })), { maxLength: 14 }), (parts) => {
      const result = scopedQuery(parts.join(''), scope)
      if (!('query' in result)) return
      const again = scopedQuery(result.query, scope)
      assert.ok('query' in again)
      assert.equal(again.query.split(M).length, 2 * result.query.split(M).length - 1)
    }),
    { numRuns: 20_000 },
  )
})
