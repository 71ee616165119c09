import assert from 'node:assert/strict'
import test from 'node:test'
import * as fc from 'fast-check'
import { addQuantity, compareQuantity, formatQuantity, parseQuantity, quantityNumber } from './quantity.ts'
import type { Quantity } from './quantity.ts'

const nano = 10n ** 9n
const max = 2n ** 63n - 1n

test('quantities are read exactly and written canonically', () => {
  const table: [text: string | number, nanoUnits: bigint, canonical: string][] = [
    ['0', 0n, '0'],
    ['-0', 0n, '0'],
    ['0Gi', 0n, '0'],
    ['1', nano, '1'],
    [2, 2n * nano, '2'],
    [1.5, 1_500_000_000n, '1500m'],
    [1e21, max * nano, '9223372036854775807'],
    [1e-7, 100n, '100e-9'],
    ['1.5Gi', 1536n * 1024n ** 2n * nano, '1536Mi'],
    ['1Gi', 1024n ** 3n * nano, '1Gi'],
    ['1Ei', 1024n ** 6n * nano, '1Ei'],
    ['1E', 10n ** 18n * nano, '1E'],
    ['1Ki', 1024n * nano, '1Ki'],
    ['0.5Ki', 512n * nano, '512'],
    ['1.0001Ki', 1_024_102_400_000n, '1024102400u'],
    ['1u', 1000n, '1u'],
    ['1n', 1n, '1n'],
    ['0.1n', 1n, '1n'],
    ['-0.1n', -1n, '-1n'],
    ['100m', 100_000_000n, '100m'],
    ['1000m', nano, '1'],
    ['1e3', 1000n * nano, '1e3'],
    ['1E3', 1000n * nano, '1e3'],
    ['1e+3', 1000n * nano, '1e3'],
    ['12e-3', 12_000_000n, '12e-3'],
    ['5e0', 5n * nano, '5'],
    ['1e-400', 1n, '1e-9'],
    ['1e400', max * nano, '9223372036854775807'],
    ['-9999999999999E', -max * nano, '-9223372036854775807'],
    ['0e999999999999', 0n, '0'],
    ['-1.5Gi', -1536n * 1024n ** 2n * nano, '-1536Mi'],
    ['+1', nano, '1'],
    ['.5', 500_000_000n, '500m'],
    ['5.', 5n * nano, '5'],
    ['1k', 1000n * nano, '1k'],
    ['1000k', 1_000_000n * nano, '1M'],
  ]
  for (const [text, nanoUnits, canonical] of table) {
    const quantity = parseQuantity(text)
    assert.equal(quantity.nano, nanoUnits, `${text}`)
    assert.equal(formatQuantity(quantity), canonical, `${text}`)
  }
})

test('what is not a quantity is refused with the text quoted', () => {
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

test('a sum keeps the suffixes of its first part that has any', () => {
  const add = (a: string, b: string) => formatQuantity(addQuantity(parseQuantity(a), parseQuantity(b)))
  assert.equal(add('1Gi', '512Mi'), '1536Mi')
  assert.equal(add('0', '1Gi'), '1Gi')
  assert.equal(add('500m', '500m'), '1')
  assert.equal(add('1', '-250m'), '750m')
})

test('a quantity becomes a plain number for ratios', () => {
  assert.equal(quantityNumber(parseQuantity('250m')), 0.25)
  assert.equal(quantityNumber(parseQuantity('-1.5')), -1.5)
  assert.equal(quantityNumber(parseQuantity('1Gi')), 2 ** 30)
})

const anyQuantity: fc.Arbitrary<Quantity> = fc.record({
  nano: fc.bigInt({ min: -max * nano, max: max * nano }),
  format: fc.constantFrom('decimal', 'binary', 'exponent'),
})
const anyText = fc
  .tuple(
    fc.constantFrom('', '-', '+'),
    fc.nat(),
    fc.option(fc.nat()),
    fc.constantFrom(
      '',
      'n',
      'u',
      'm',
      'k',
      'M',
      'G',
      'T',
      'P',
      'E',
      'Ki',
      'Mi',
      'Gi',
      'Ti',
      'Pi',
      'Ei',
      'e3',
      'e-3',
      'E5',
    ),
  )
  .map(([sign, whole, fraction, suffix]) => `${sign}${whole}${fraction === null ? '' : `.${fraction}`}${suffix}`)

test('what is written reads back as the same amount', () => {
  fc.assert(fc.property(anyQuantity, (quantity) => parseQuantity(formatQuantity(quantity)).nano === quantity.nano))
})

test('the canonical text is a fixed point', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const canonical = formatQuantity(parseQuantity(text))
      assert.equal(formatQuantity(parseQuantity(canonical)), canonical)
    }),
  )
})

test('the order agrees with that of the numbers, and adding keeps it', () => {
  fc.assert(
    fc.property(anyQuantity, anyQuantity, anyQuantity, (a, b, c) => {
      assert.equal(compareQuantity(a, b), -compareQuantity(b, a) + 0)
      assert.equal(Math.sign(compareQuantity(a, b)), a.nano < b.nano ? -1 : a.nano > b.nano ? 1 : 0)
      assert.equal(compareQuantity(addQuantity(a, c), addQuantity(b, c)), compareQuantity(a, b))
    }),
  )
})
