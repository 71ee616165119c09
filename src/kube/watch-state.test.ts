import assert from 'node:assert/strict'
import test from 'node:test'
import * as fc from 'fast-check'
import { ApiError, ConnectionError } from './errors.ts'
import { BEGINNING, stateAfter, StreamedError } from './watch-state.ts'
import type { Listing, Outcome, Watching, WatchState } from './watch-state.ts'

const request = { verb: 'watch', path: '/x' }
const refused = (code: number) => new ApiError({ code }, request)
const streamed = (code: number) => new StreamedError({ code }, request)
const reset = new ConnectionError(request, new Error('reset'))
const tooLarge = new ApiError({ code: 504, details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } }, request)

const listing: Listing = BEGINNING
const watching: Watching = { phase: 'watching', mode: 'stream', resourceVersion: '7', failures: 0 }
const step = (state: Listing | Watching, outcome: Outcome): WatchState => stateAfter(state, outcome, () => 1)

test('each outcome leads to the right state', () => {
  const table: [what: string, from: Listing | Watching, outcome: Outcome, next: string][] = [
    ['a completed list continues as a watch', listing, done('9'), 'watching 9'],
    ['a watch that the server ended resumes', watching, done('9'), 'watching 9'],
    ['a watch that ended without a word waits first', watching, idle('7'), 'wait, watching 7'],
    ['a reset watch resumes', watching, failed(reset, '8'), 'wait, watching 8'],
    ['an expired version needs a list', watching, failed(refused(410), '7'), 'wait, listing by stream'],
    ['so does one expired in the stream', watching, failed(streamed(410), '7'), 'wait, listing by stream'],
    ['so does one from the future', watching, failed(tooLarge, '7'), 'wait, listing by stream'],
    ['a 500 keeps its place', watching, failed(refused(500), '7'), 'wait, watching 7'],
    ['forbidden is retried: permissions may be granted later', watching, failed(refused(403), '7'), 'wait, watching 7'],
    ['a failed list is retried', listing, failed(reset), 'wait, listing by stream'],
    ['a list that ended early is retried', listing, { progressed: false }, 'wait, listing by stream'],
    ['a refused stream falls back to pages', listing, failed(refused(422)), 'listing by pages'],
    ['as does an older server', listing, failed(refused(400)), 'listing by pages'],
    ['as does an error inside the stream', listing, failed(streamed(500)), 'listing by pages'],
    ['but not an unhappy server', listing, failed(refused(500)), 'wait, listing by stream'],
    ['nor an expired version', listing, failed(streamed(410)), 'wait, listing by stream'],
    ['nor an error after the list was complete', listing, failed(streamed(500), '9'), 'wait, watching 9'],
    [
      'pages that fail are not mistaken for it',
      { ...listing, mode: 'pages' },
      failed(refused(400)),
      'wait, listing by pages',
    ],
  ]
  for (const [what, from, outcome, next] of table) assert.equal(told(step(from, outcome)), next, what)
})

test('pages, once necessary, stay in use', () => {
  const state = step({ ...listing, mode: 'pages' }, done('9'))
  assert.ok(state.phase === 'watching')
  assert.equal(told(step(state, failed(refused(410), '9'))), 'wait, listing by pages')
})

test('delays grow with failures up to three seconds; progress resets them', () => {
  let state: Listing | Watching = watching
  const waits: number[] = []
  for (let turn = 0; turn < 7; turn++) {
    const waiting = step(state, { ...failed(reset, '7'), progressed: false })
    assert.ok(waiting.phase === 'waiting')
    waits.push(waiting.delayMs)
    state = waiting.next
  }
  assert.deepEqual(waits, [200, 400, 800, 1600, 3000, 3000, 3000])
  const after = step(state, failed(reset, '8'))
  assert.ok(after.phase === 'waiting')
  assert.equal(after.delayMs, 200)
})

test('respects Retry-After, and all delays have jitter', () => {
  const asked = new ApiError({ code: 429 }, request, 2_000)
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (dice) => {
      const state = stateAfter(watching, failed(asked, '7'), () => dice)
      assert.ok(state.phase === 'waiting' && state.delayMs >= 2_100 && state.delayMs <= 2_200)
    }),
  )
})

function done(resourceVersion: string): Outcome {
  return { progressed: true, resourceVersion }
}

function idle(resourceVersion: string): Outcome {
  return { progressed: false, resourceVersion }
}

function failed(error: unknown, resourceVersion?: string): Outcome {
  const progressed = resourceVersion !== undefined && resourceVersion !== '7'
  return { progressed, error, ...(resourceVersion === undefined ? {} : { resourceVersion }) }
}

function told(state: WatchState): string {
  if (state.phase === 'waiting') return `wait, ${told(state.next)}`
  return state.phase === 'listing' ? `listing by ${state.mode}` : `watching ${state.resourceVersion}`
}
