import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { answerReview, answerText } from './conversion-review.ts'
import { answerBytes } from './review-bytes.ts'
import { ReviewThread } from './review-thread.ts'

const bytes = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(new TextEncoder().encode(text))
const textOf = (body: Uint8Array): string => new TextDecoder().decode(body)
const review = JSON.stringify({ request: { uid: 'u', desiredAPIVersion: 'ml.example.com/v1', objects: [] } })

/** Loops or fails when the review says so. */
const program = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from 'node:worker_threads'
    parentPort.on('message', (body) => {
      const text = new TextDecoder().decode(body)
      while (text === 'loop');
      if (text === 'fail') throw new Error('boom')
      parentPort.postMessage({ status: 200, body })
    })`)}`,
)

function started(t: TestContext, options = {}): ReviewThread {
  const thread = new ReviewThread(options)
  t.after(() => thread.close())
  return thread
}

test('answers reviews in order', async (t) => {
  const thread = started(t)
  const answers = await Promise.all([
    thread.convert(bytes(review)),
    thread.convert(bytes('{')),
    thread.convert(bytes('')),
  ])
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 400, 400],
  )
  assert.match(textOf(answers[0]?.body ?? bytes('')), /"uid":"u"/)
})

test('a review that takes too long or ends the thread does not affect others', async (t) => {
  const thread = started(t, { program, timeoutMs: 2_000 })
  const [looped, next] = await Promise.all([thread.convert(bytes('loop')), thread.convert(bytes('a'))])
  assert.equal(looped.status, 503)
  assert.match(textOf(looped.body), /took longer than 2000 ms/)
  const patient = started(t, { program })
  const [failed, after] = await Promise.all([patient.convert(bytes('fail')), patient.convert(bytes('b'))])
  assert.equal(failed.status, 503)
  assert.match(textOf(failed.body), /ended the conversion thread/)
  assert.equal(after.status, 200)
  assert.ok(next.status === 200 || next.status === 503)
})

test('rejects converted objects that are too large', () => {
  const object = { apiVersion: 'ml.example.com/v1', kind: 'TrainingJob', metadata: {} }
  const request = { desiredAPIVersion: 'ml.example.com/v1', objects: [object, object, object] }
  assert.equal(answerText({ request }, 100), undefined)
  assert.deepEqual(JSON.parse(answerText({ request }, 1_000) ?? ''), answerReview({ request }))
})

test('rejects reviews that would take too much memory before parsing them', () => {
  const { status, body } = answerBytes(bytes(`[${'{},'.repeat(1_000_000)}1]`))
  assert.equal(status, 413)
  assert.match(textOf(body), /more than 1000000 values/)
})

test('answers reviews of any nesting depth', () => {
  const object = { apiVersion: 'ml.example.com/v1alpha1', kind: 'TrainingJob', metadata: {}, spec: {} }
  for (const depth of [10, 1_000, 100_000]) {
    const deep = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
    const text = JSON.stringify({ request: { uid: 'u', desiredAPIVersion: 'ml.example.com/v1', objects: [object] } })
    for (const place of ['"spec":{}', '"metadata":{}']) {
      const { status } = answerBytes(bytes(text.replace(place, `${place.slice(0, -2)}{"x":${deep}}`)))
      assert.equal(status, 200)
    }
  }
})
