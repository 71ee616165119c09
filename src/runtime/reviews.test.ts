import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import type { Client } from '../kube/client.ts'
import type { RawCall } from '../kube/options.ts'
import { FakeClock } from './fake-clock.ts'
import { metricsAccess } from './metrics-access.ts'
import { Reviews } from './reviews.ts'

interface Review {
  readonly kind: string
  readonly spec: Readonly<Record<string, unknown>>
}

/** A server that knows these tokens, and grants /metrics to `prometheus`. */
function reviewing() {
  const asked: string[] = []
  let isDown = false
  const request = async ({ body }: RawCall) => {
    const { kind, spec } = body as Review
    asked.push(kind)
    if (isDown) throw new Error('reset')
    if (kind === 'SubjectAccessReview') return { status: { allowed: spec['user'] === 'prometheus' } }
    const username = { p: 'prometheus', b: 'bob' }[String(spec['token'])]
    return { status: username === undefined ? {} : { authenticated: true, user: { username }, audiences: ['api'] } }
  }
  const create = (_resource: unknown, body: unknown) => request({ body } as RawCall)
  const clock = new FakeClock()
  const reviews = new Reviews({ request, create } as unknown as Client, clock)
  const authorize = metricsAccess(reviews)
  const status = async (authorization?: string) =>
    (await authorize({ headers: { ...(authorization !== undefined && { authorization }) } } as IncomingMessage))?.status
  const fail = (): void => void (isDown = true)
  return { asked, clock, reviews, status, fail }
}

test('allows users with a valid token and the permission, and nobody else', async () => {
  const { status, asked } = reviewing()
  assert.equal(await status('Bearer p'), undefined)
  assert.equal(await status('Bearer b'), 403)
  assert.equal(await status('Bearer x'), 401)
  const before = asked.length
  for (const header of [undefined, '', 'Basic p', 'Bearer', 'Bearer a b', `Bearer ${'x'.repeat(20_000)}`])
    assert.equal(await status(header), 401)
  assert.equal(asked.length, before, 'asks nothing without a token')
})

test('an answer is valid for a minute, a rejection for ten seconds', async () => {
  const { status, asked, clock } = reviewing()
  for (let scrape = 0; scrape < 3; scrape++) await status('Bearer p')
  assert.deepEqual(asked, ['TokenReview', 'SubjectAccessReview'])
  for (let scrape = 0; scrape < 3; scrape++) await status('Bearer x')
  assert.equal(asked.length, 3)
  clock.advance(10_001)
  await Promise.all([status('Bearer p'), status('Bearer x')])
  assert.equal(asked.length, 4)
  clock.advance(50_000)
  await status('Bearer p')
  assert.equal(asked.length, 6)
})

test('concurrent questions become one call, and the number of calls is limited', async () => {
  const { status, asked } = reviewing()
  await Promise.all(Array.from({ length: 50 }, () => status('Bearer p')))
  assert.deepEqual(asked, ['TokenReview', 'SubjectAccessReview'])
  const flood = await Promise.all(Array.from({ length: 50 }, (_, index) => status(`Bearer random-${index}`)))
  assert.equal(flood.filter((code) => code === 401).length, 16)
  assert.equal(flood.filter((code) => code === 429).length, 34)
  assert.equal(await status('Bearer later'), 401)
})

test('a failed call rejects, and is not remembered', async () => {
  const { status, fail, asked } = reviewing()
  fail()
  assert.equal(await status('Bearer p'), 503)
  assert.equal(await status('Bearer p'), 503)
  assert.equal(asked.length, 2)
})

test('a token for another audience is not valid', async () => {
  const { reviews } = reviewing()
  assert.equal((await reviews.reviewed('p', ['api']))?.username, 'prometheus')
  assert.equal(await reviews.reviewed('p', ['reports']), undefined)
})
