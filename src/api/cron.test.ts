import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CRON, TIME_ZONE } from './cron.ts'

/** JavaScript has the flag groups of RE2 as well. */
const cron = new RegExp(CRON)

const valid = [
  '* * * * *',
  '0 3 * * *',
  '*/15 0-6,12 1,15 * 1-5',
  '5/15 * * * *',
  '0 0 1 JAN,jul ?',
  '0 9 * * mon-FRI',
  '0  3 * * *',
  '@daily',
  '@midnight',
  '@yearly',
]
const invalid = [
  '',
  '* * * *',
  '* * * * * *',
  '60 * * * *',
  '0 24 * * *',
  '0 0 32 * *',
  '0 0 0 * *',
  '0 0 1 13 *',
  '0 0 * * 7',
  '0 0 L * *',
  '*/0 * * * *',
  '@every 1h',
  '@reboot',
  'TZ=UTC 0 3 * * *',
  '0 3 * * *\n',
]

for (const text of valid) test(`accepts ${text}`, () => assert.match(text, cron))
for (const text of invalid) test(`rejects ${JSON.stringify(text)}`, () => assert.doesNotMatch(text, cron))

test('time zones are names, not offsets', () => {
  for (const zone of ['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5'])
    assert.match(zone, new RegExp(TIME_ZONE))
  for (const zone of ['+01:00', 'Europe/', '/etc/localtime', 'a b']) assert.doesNotMatch(zone, new RegExp(TIME_ZONE))
})
