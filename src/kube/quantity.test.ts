import assert from 'node:assert/strict'
import test from 'node:test'
import * as fc from 'fast-check'
import { compareQuantity, parseQuantity, quantityNumber } from './quantity.ts'
import type { Quantity } from './quantity.ts'

const nano = 10n ** 9n
const max = 2n ** 63n - 1n

test('parses quantities exactly', () => {
  const table: [text: string | number, nanoUnits: bigint][] = [
    ['0', 0n],
    ['-0', 0n],
    ['0Gi', 0n],
    ['1', nano],
    [2, 2n * nano],
    [1.5, 1_500_000_000n],
    [1e21, max * nano],
    [1e-7, 100n],
    ['1.5Gi', 1536n * 1024n ** 2n * nano],
    ['1Gi', 1024n ** 3n * nano],
    ['1Ei', 1024n ** 6n * nano],
    ['1E', 10n ** 18n * nano],
    ['1Ki', 1024n * nano],
    ['0.5Ki', 512n * nano],
    ['1.0001Ki', 1_024_102_400_000n],
    ['1u', 1000n],
    ['1n', 1n],
    ['0.1n', 1n],
    ['-0.1n', -1n],
    ['100m', 100_000_000n],
    ['1000m', nano],
    ['1e3', 1000n * nano],
    ['1E3', 1000n * nano],
    ['1e+3', 1000n * nano],
    ['12e-3', 12_000_000n],
    ['5e0', 5n * nano],
    ['1e-400', 1n],
    ['1e400', max * nano],
    ['-9999999999999E', -max * nano],
    ['0e999999999999', 0n],
    ['-1.5Gi', -1536n * 1024n ** 2n * nano],
    ['+1', nano],
    ['.5', 500_000_000n],
    ['5.', 5n * nano],
    ['1k', 1000n * nano],
    ['1000k', 1_000_000n * nano],
  ]
  for (const [text, nanoUnits] of table) assert.equal(parseQuantity(text).nano, nanoUnits, `${text}`)
})

test('rejects text that is not a quantity, and quotes it', () => {
  const bad = [
    '',
    '.',
    '-',
    'abc',
    '1K',
    '1kb',
    '1GiB',
    '1 Gi',
    ' 1',
    '1\n',
    '1e',
    '1e1.5',
    '--1',
    '1.2.3',
    '0x10',
    'Gi',
    '١',
  ]
  for (const text of [...bad, NaN, Infinity]) {
    assert.throws(
      () => parseQuantity(text),
      new RegExp(`^RangeError: ${JSON.stringify(String(text)).replaceAll(/[.\\]/g, '\\$&')} is not`),
    )
  }
  assert.throws(() => parseQuantity('1'.repeat(1_000_000)), RangeError)
})

test('equal amounts compare equal however they are written', () => {
  const pairs: [string, string][] = [
    ['1Gi', '1073741824'],
    ['0.1', '100m'],
    ['1e3', '1k'],
    ['1E', '1e18'],
    ['-1', '-1000m'],
  ]
  for (const [a, b] of pairs) assert.equal(compareQuantity(parseQuantity(a), parseQuantity(b)), 0, `${a} = ${b}`)
})

test('a quantity becomes a plain number for ratios', () => {
  assert.equal(quantityNumber(parseQuantity('250m')), 0.25)
  assert.equal(quantityNumber(parseQuantity('-1.5')), -1.5)
  assert.equal(quantityNumber(parseQuantity('1Gi')), 2 ** 30)
})

const anyQuantity: fc.Arbitrary<Quantity> = fc.record({
  nano: fc.bigInt({ min: -max * nano, max: max * nano }),
})
test('orders quantities as their amounts are ordered', () => {
  fc.assert(
    fc.property(anyQuantity, anyQuantity, (a, b) => {
      assert.equal(compareQuantity(a, b), -compareQuantity(b, a) + 0)
      assert.equal(Math.sign(compareQuantity(a, b)), a.nano < b.nano ? -1 : a.nano > b.nano ? 1 : 0)
    }),
  )
})
