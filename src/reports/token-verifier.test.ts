import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../runtime/fake-clock.ts'
import type { Client } from '../kube/client.ts'
import { Reviews, ReviewsBusy } from '../runtime/index.ts'
import { REPORT_REVIEWS, TokenVerifier } from './token-verifier.ts'

/** The part of the status of a TokenReview that is used. */
interface TokenReviewStatus {
  readonly authenticated?: boolean
  readonly audiences?: readonly string[]
  readonly user?: { readonly username?: string; readonly extra?: Readonly<Record<string, readonly string[]>> }
}

const POD = { namespace: 'team-a', name: 'bert-workers-0', uid: 'pod-uid' }
const VALID: TokenReviewStatus = {
  authenticated: true,
  audiences: ['ml-operator'],
  user: {
    username: 'system:serviceaccount:team-a:default',
    extra: {
      'authentication.kubernetes.io/pod-name': [POD.name],
      'authentication.kubernetes.io/pod-uid': [POD.uid],
    },
  },
}

function setUp(answer: TokenReviewStatus | (() => Promise<TokenReviewStatus>) = VALID) {
  const clock = new FakeClock()
  const reviewed: string[] = []
  const create = async (_resource: unknown, { spec }: { readonly spec: { readonly token: string } }) => {
    reviewed.push(spec.token)
    return { status: typeof answer === 'function' ? await answer() : answer }
  }
  const client = { create } as unknown as Client
  const reviews = new Reviews(client, clock, { ...REPORT_REVIEWS, maxCalls: 2, maxEntries: 2 })
  return { clock, reviewed, verifier: new TokenVerifier(reviews, clock) }
}

/** The signature is checked by the API server only. */
function tokenOf(
  clock: FakeClock,
  { seconds = 3_600, aud = ['ml-operator'] as unknown, signature = 'x' } = {},
): string {
  const claims = { aud, exp: Math.floor(clock.now() / 1000) + seconds }
  return `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${signature}`
}

test('a valid token is reviewed once in five minutes', async () => {
  const { clock, reviewed, verifier } = setUp()
  const token = tokenOf(clock)
  assert.deepEqual(await verifier.verify(token), POD)
  clock.advance(299_000)
  assert.deepEqual(await verifier.verify(token), POD)
  assert.equal(reviewed.length, 1)
  clock.advance(2_000)
  await verifier.verify(token)
  assert.equal(reviewed.length, 2)
})

test('a token is not valid after its expiry, also if it is cached', async () => {
  const { clock, reviewed, verifier } = setUp()
  const token = tokenOf(clock, { seconds: 60 })
  assert.deepEqual(await verifier.verify(token), POD)
  clock.advance(60_000)
  assert.equal(await verifier.verify(token), undefined)
  assert.equal(reviewed.length, 1)
})

test('an invalid token is reviewed again after ten seconds', async () => {
  const { clock, reviewed, verifier } = setUp({ authenticated: false })
  const token = tokenOf(clock)
  for (let round = 0; round < 5; round += 1) assert.equal(await verifier.verify(token), undefined)
  assert.equal(reviewed.length, 1)
  clock.advance(10_001)
  await verifier.verify(token)
  assert.equal(reviewed.length, 2)
})

describe('what does not identify a pod', () => {
  const { extra } = VALID.user ?? {}
  const wrong: readonly [string, TokenReviewStatus][] = [
    ['another audience', { ...VALID, audiences: ['other'] }],
    ['no audience', { ...VALID, audiences: [] }],
    ['a user', { ...VALID, user: { username: 'alice', ...(extra && { extra }) } }],
    ['no pod', { ...VALID, user: { username: 'system:serviceaccount:team-a:default' } }],
    ['not authenticated', { ...VALID, authenticated: false }],
  ]
  for (const [name, status] of wrong)
    test(name, async () => {
      const { clock, verifier } = setUp(status)
      assert.equal(await verifier.verify(tokenOf(clock)), undefined)
    })
})

test('what cannot be a token for us costs no review', async () => {
  const { clock, reviewed, verifier } = setUp()
  const tokens = ['', 'x', 'a.b.c', 'a.e30.c', `e30.${Buffer.from('null').toString('base64url')}.x`]
  const others = [tokenOf(clock, { aud: ['other'] }), tokenOf(clock, { aud: 7 }), tokenOf(clock, { seconds: -1 })]
  const long = tokenOf(clock, { signature: 'x'.repeat(10_000) })
  for (const token of [...tokens, ...others, long]) assert.equal(await verifier.verify(token), undefined)
  assert.deepEqual(reviewed, [])
})

test('concurrent requests with one token share a review; other tokens are limited', async () => {
  const gate = Promise.withResolvers<TokenReviewStatus>()
  const { clock, reviewed, verifier } = setUp(() => gate.promise)
  const [one, two, three] = ['1', '2', '3'].map((signature) => tokenOf(clock, { signature }))
  const running = [one, one, two, one].map((token) => verifier.verify(token ?? ''))
  await assert.rejects(verifier.verify(three ?? ''), ReviewsBusy)
  gate.resolve(VALID)
  assert.deepEqual(await Promise.all(running), [POD, POD, POD, POD])
  assert.equal(reviewed.length, 2)
})

test('a failed review is not remembered', async () => {
  let fails = true
  const { clock, verifier } = setUp(() => (fails ? Promise.reject(new Error('down')) : Promise.resolve(VALID)))
  const token = tokenOf(clock)
  await assert.rejects(verifier.verify(token), /down/)
  fails = false
  assert.deepEqual(await verifier.verify(token), POD)
})

test('the cache is bounded', async () => {
  const { clock, reviewed, verifier } = setUp()
  const tokens = ['1', '2', '3'].map((signature) => tokenOf(clock, { signature }))
  for (const token of [...tokens, ...tokens]) await verifier.verify(token)
  assert.equal(reviewed.length, 6)
})
