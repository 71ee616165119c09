import assert from 'node:assert/strict'
import test from 'node:test'
import * as fc from 'fast-check'
import { microTime } from './time.ts'

test('a MicroTime has exactly six fractional digits', () => {
  assert.equal(microTime(new Date('2026-01-02T03:04:05.678Z')), '2026-01-02T03:04:05.678000Z')
  assert.equal(microTime(new Date(0)), '1970-01-01T00:00:00.000000Z')
})

test('every MicroTime reads back as the same instant', () => {
  const dates = fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true })
  fc.assert(
    fc.property(dates, (date) => {
      const text = microTime(date)
      assert.match(text, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
      assert.equal(Date.parse(text), date.getTime())
    }),
  )
})
