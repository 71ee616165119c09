import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DueTimes } from '../plan/schedule/index.ts'
import { timesOf } from './schedule-times.ts'

interface Asked {
  readonly schedule: string
  readonly timeZone?: string
  readonly since: string
  readonly now: string
  readonly deadline?: number
}

function ask({ schedule, timeZone = 'UTC', since, now, deadline }: Asked) {
  const query = {
    schedule,
    timeZone,
    since: Date.parse(since),
    now: Date.parse(now),
    startingDeadlineSeconds: deadline,
  }
  return timesOf(query)
}

function times(asked: Asked): { due: string | undefined; next: string | undefined; missed: number } {
  const found = ask(asked)
  assert.ok(!('invalid' in found), JSON.stringify(found))
  const { due, next, missed }: DueTimes = found
  const shown = (time: number | undefined): string | undefined =>
    time === undefined ? undefined : new Date(time).toISOString().slice(0, 16)
  return { due: shown(due), next: shown(next), missed }
}

test('a recorded time at the end of the range of dates is no error', () => {
  for (const since of ['+275760-09-12T23:59:59Z', '-271821-04-21T00:00:00Z'])
    assert.ok(times({ schedule: '0 3 * * *', since, now: '2026-01-01T00:00:00Z' }).next)
})

const cases: readonly (readonly [string, Asked, ReturnType<typeof times>])[] = [
  [
    'nothing is due before the first time',
    { schedule: '0 3 * * *', since: '2026-01-01T00:00:00Z', now: '2026-01-01T02:59:59Z' },
    { due: undefined, next: '2026-01-01T03:00', missed: 0 },
  ],
  [
    'a time is due at the moment itself',
    { schedule: '0 3 * * *', since: '2026-01-01T00:00:00Z', now: '2026-01-01T03:00:00Z' },
    { due: '2026-01-01T03:00', next: '2026-01-02T03:00', missed: 1 },
  ],
  [
    'a time that has run is not due again',
    { schedule: '0 3 * * *', since: '2026-01-01T03:00:00Z', now: '2026-01-01T03:00:00Z' },
    { due: undefined, next: '2026-01-02T03:00', missed: 0 },
  ],
  [
    'of several missed times, the latest is due',
    { schedule: '@hourly', since: '2026-01-01T00:00:00Z', now: '2026-01-01T05:30:00Z' },
    { due: '2026-01-01T05:00', next: '2026-01-01T06:00', missed: 5 },
  ],
  [
    'times beyond the deadline are not counted',
    { schedule: '@hourly', since: '2026-01-01T00:00:00Z', now: '2026-01-01T05:30:00Z', deadline: 7200 },
    { due: '2026-01-01T05:00', next: '2026-01-01T06:00', missed: 2 },
  ],
  [
    'counting ends after the limit, also after years',
    { schedule: '* * * * *', since: '2020-01-01T00:00:00Z', now: '2026-01-01T00:00:30Z' },
    { due: '2026-01-01T00:00', next: '2026-01-01T00:01', missed: 101 },
  ],
  [
    'after the clock went back, the next time is after the last run',
    { schedule: '@hourly', since: '2026-01-01T05:00:00Z', now: '2026-01-01T02:30:00Z' },
    { due: undefined, next: '2026-01-01T06:00', missed: 0 },
  ],
  [
    'the time zone decides',
    { schedule: '0 3 * * *', timeZone: 'Asia/Tokyo', since: '2026-01-01T00:00:00Z', now: '2026-01-01T18:30:00Z' },
    { due: '2026-01-01T18:00', next: '2026-01-02T18:00', missed: 1 },
  ],
  [
    'a time that does not exist in spring runs right after the gap',
    { schedule: '30 2 * * *', timeZone: 'Europe/Berlin', since: '2026-03-28T12:00:00Z', now: '2026-03-29T12:00:00Z' },
    { due: '2026-03-29T01:00', next: '2026-03-30T00:30', missed: 1 },
  ],
  [
    'a time that occurs twice in autumn runs once',
    { schedule: '30 2 * * *', timeZone: 'Europe/Berlin', since: '2026-10-24T12:00:00Z', now: '2026-10-25T12:00:00Z' },
    { due: '2026-10-25T00:30', next: '2026-10-26T01:30', missed: 1 },
  ],
  [
    'an hourly schedule runs in every hour of autumn',
    { schedule: '30 * * * *', timeZone: 'Europe/Berlin', since: '2026-10-24T23:00:00Z', now: '2026-10-25T03:00:00Z' },
    { due: '2026-10-25T02:30', next: '2026-10-25T03:30', missed: 4 },
  ],
  [
    'a value with a step starts a range, as in a CronJob',
    { schedule: '5/15 * * * *', since: '2026-01-01T00:00:00Z', now: '2026-01-01T00:51:00Z' },
    { due: '2026-01-01T00:50', next: '2026-01-01T01:05', missed: 4 },
  ],
  [
    'a day of the month or a day of the week is enough',
    { schedule: '0 0 15 * MON', since: '2026-01-13T00:00:00Z', now: '2026-01-19T00:00:00Z' },
    { due: '2026-01-19T00:00', next: '2026-01-26T00:00', missed: 2 },
  ],
  [
    'the 29th of February waits for a leap year',
    { schedule: '0 0 29 2 *', since: '2026-01-01T00:00:00Z', now: '2026-06-01T00:00:00Z' },
    { due: undefined, next: '2028-02-29T00:00', missed: 0 },
  ],
]

for (const [name, asked, expected] of cases) test(name, () => assert.deepEqual(times(asked), expected))

const invalid: readonly (readonly [string, string, RegExp])[] = [
  ['0 0 30 2 *', 'UTC', /^spec\.schedule 0 0 30 2 \* has no time: .*change the day/],
  ['30-10 * * * *', 'UTC', /^spec\.schedule 30-10 .* is not valid: .*write for example/],
  ['0 3 * * *', 'Mars/Base', /^spec\.timeZone Mars\/Base is not known: write a name of the IANA database/],
]

for (const [schedule, timeZone, message] of invalid) {
  test(`${schedule} in ${timeZone} is reported with the field and the fix`, () => {
    const found = ask({ schedule, timeZone, since: '2026-01-01T00:00:00Z', now: '2026-01-01T00:00:00Z' })
    assert.ok('invalid' in found)
    assert.match(found.invalid.message, message)
  })
}

test('a schedule without times costs nothing after the first answer', () => {
  const asked = { schedule: '0 0 31 2,4,6 *', since: '2026-01-01T00:00:00Z', now: '2026-01-01T00:00:00Z' }
  ask(asked)
  const began = process.cpuUsage()
  for (let count = 0; count < 1000; count += 1) ask(asked)
  const { user } = process.cpuUsage(began)
  assert.ok(user < 1_000_000, `${user} µs for 1000 answers`)
})
