import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseRoute } from './route.ts'

const route = (entries: readonly (readonly [string, string, number])[]): string =>
  JSON.stringify(entries.map(([version, address, weight]) => ({ version, address, weight })))

const ruled = (rules: object): string =>
  JSON.stringify({ versions: [{ version: 'v1', address: 'a:1', weight: 100 }], ...rules })

describe('parseRoute', () => {
  test('parses a route; an empty file is none', () => {
    const entries = [
      { version: 'v1', address: 'sentiment-v1:8080', weight: 90 },
      { version: 'v2', address: '10.0.0.2:80', weight: 10 },
    ]
    assert.deepEqual(parseRoute(JSON.stringify(entries)), { versions: entries, rules: {} })
    const rules = {
      mirror: { version: 'v2', percent: 5 },
      match: [
        { version: 'v2', header: { name: 'x-tester', value: 'yes' } },
        { version: 'v2', cookie: { name: 'tester', value: 'yes' } },
      ],
      stickiness: { cookie: 'user' },
    }
    assert.deepEqual(parseRoute(JSON.stringify({ versions: entries, ...rules })), { versions: entries, rules })
    assert.equal(parseRoute(' \n'), undefined)
  })

  const invalid: readonly (readonly [string, string, RegExp])[] = [
    ['text that is not JSON', 'v1=100', /must be JSON/],
    ['an object instead of a list', '{}', /a list of 1 to 100/],
    ['an empty list', '[]', /a list of 1 to 100/],
    ['a sum of 99', route([['v1', 'a:1', 99]]), /must sum to 100, not 99/],
    [
      'a weight that is not an integer',
      route([
        ['v1', 'a:1', 99.5],
        ['v2', 'a:1', 0.5],
      ]),
      /weight must be an integer/,
    ],
    [
      'a version twice',
      route([
        ['v1', 'a:1', 50],
        ['v1', 'a:1', 50],
      ]),
      /more than once/,
    ],
    ['a command in the name', route([['v1; shutdown', 'a:1', 100]]), /must consist of letters/],
    ['a command in the address', route([['v1', 'a:1 disabled', 100]]), /host:port/],
    ['a line break', route([['v1\nshow info', 'a:1', 100]]), /must consist of letters/],
    ['an address without a port', route([['v1', 'a', 100]]), /host:port/],
    ['a missing entry', '[null]', /must consist of letters/],
    ['copies of more than all requests', ruled({ mirror: { version: 'v1', percent: 101 } }), /percentage/],
    ['a rule without a header or cookie', ruled({ match: [{ version: 'v1' }] }), /a header or a cookie/],
    ['a line break in a value', ruled({ match: [{ version: 'v1', header: { name: 'a', value: 'b\n' } }] }), /control/],
    ['rules that are no list', ruled({ match: {} }), /a list of at most/],
    ['stickiness to nothing', ruled({ stickiness: {} }), /of a cookie or a header/],
    ['a cookie that is no name', ruled({ stickiness: { cookie: 'a b' } }), /of a cookie or a header/],
  ]
  for (const [what, text, reason] of invalid) {
    test(`rejects ${what}`, () => assert.throws(() => parseRoute(text), reason))
  }
})
