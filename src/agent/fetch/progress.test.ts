import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Progress } from './progress.ts'
import { durationText, sizeText } from '../transfer/size.ts'

test('formats sizes and durations for people', () => {
  assert.deepEqual([0, 999, 1_000, 1_234_567, 5e9, 2.5e12].map(sizeText), [
    '0 B',
    '999 B',
    '1 kB',
    '1.23 MB',
    '5 GB',
    '2.5 TB',
  ])
  assert.deepEqual([0.2, 59, 61, 7_260].map(durationText), ['1 s', '59 s', '1 min 1 s', '2 h 1 min'])
})

test('a line has percentage, rate and remaining time', () => {
  const progress = new Progress(1_000_000, 100_000, () => {})
  assert.equal(progress.line(0), '10 % · 100 kB of 1 MB · 0 B/s')
  progress.add(300_000)
  assert.equal(progress.line(3_000), '40 % · 400 kB of 1 MB · 100 kB/s · 6 s left')
})

test('the rate is that of the latest samples', () => {
  const progress = new Progress(1_000_000, 0, () => {})
  progress.line(0)
  progress.add(500_000)
  for (let at = 1_000; at <= 6_000; at += 1_000) progress.line(at)
  assert.equal(progress.line(7_000), '50 % · 500 kB of 1 MB · 0 B/s')
})

test('without a size there is no percentage', () => {
  const progress = new Progress(undefined, 0, () => {})
  progress.line(0)
  progress.add(2_000)
  assert.equal(progress.line(1_000), '2 kB · 2 kB/s')
})
