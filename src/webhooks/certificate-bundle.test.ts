import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import * as fc from 'fast-check'
import {
  type CertificateBundle,
  type CertificatePolicy,
  expiresAt,
  nextRenewal,
  renewBundle,
} from './certificate-bundle.ts'

const HOUR = 3_600_000
const START = Date.UTC(2030, 0, 1)
const policy: CertificatePolicy = {
  authorityMs: 900 * HOUR,
  leafMs: 90 * HOUR,
  settleMs: HOUR,
  dnsNames: ['webhook.ml.svc'],
}

const signs = (authority: string, cert: string): boolean =>
  new X509Certificate(cert).verify(new X509Certificate(authority).publicKey)

/** Would a client that trusts these authorities accept this certificate now? */
function isAccepted(trusted: readonly string[], cert: string, now: number): boolean {
  const { validFromDate, validToDate } = new X509Certificate(cert)
  const isCurrent = validFromDate.getTime() <= now && now < validToDate.getTime()
  return isCurrent && trusted.some((authority) => now < expiresAt(authority) && signs(authority, cert))
}

test('the first certificates are usable at once', () => {
  const { authorities, leaf } = renewBundle(undefined, START, policy)
  assert.equal(authorities.length, 1)
  assert.ok(isAccepted(authorities, leaf.cert, START))
  assert.equal(new X509Certificate(leaf.cert).checkHost('webhook.ml.svc'), 'webhook.ml.svc')
})

test('nothing changes before two thirds of the lifetime, then only the leaf', () => {
  const first = renewBundle(undefined, START, policy)
  assert.equal(renewBundle(first, START + 59 * HOUR, policy), first)
  assert.equal(nextRenewal(first, policy), START + 60 * HOUR)
  const second = renewBundle(first, START + 60 * HOUR, policy)
  assert.notEqual(second.leaf.cert, first.leaf.cert)
  assert.deepEqual(second.authorities, first.authorities)
})

test('a new authority is trusted for a while before it signs, and the old one until it expires', () => {
  const before = renewBundle(renewBundle(undefined, START, policy), START + 599 * HOUR, policy)
  const joined = renewBundle(before, START + 600 * HOUR, policy)
  assert.equal(joined.authorities.length, 2)
  assert.equal(joined.leaf.cert, before.leaf.cert, 'the new authority has not settled')
  assert.equal(nextRenewal(joined, policy), START + 601 * HOUR)
  assert.equal(renewBundle(joined, START + 601 * HOUR - 1, policy), joined, 'API servers may not trust it yet')
  const settled = renewBundle(joined, START + 601 * HOUR, policy)
  assert.ok(signs(settled.authorities[0], settled.leaf.cert))
  assert.equal(settled.authorities.length, 2)
  const later = renewBundle(settled, START + 900 * HOUR, policy)
  assert.deepEqual(later.authorities, [settled.authorities[0]])
})

test('other names need another certificate at once', () => {
  const first = renewBundle(undefined, START, policy)
  const second = renewBundle(first, START, { ...policy, dnsNames: ['other.ml.svc'] })
  assert.notEqual(second.leaf.cert, first.leaf.cert)
  assert.deepEqual(second.authorities, first.authorities)
})

test('expired certificates are replaced completely', () => {
  const first = renewBundle(undefined, START, policy)
  const later = START + 1000 * HOUR
  const second = renewBundle(first, later, policy)
  assert.ok(isAccepted(second.authorities, second.leaf.cert, later))
  assert.equal(second.authorities.length, 1)
})

test('over years of renewals, no replica uses a certificate that the API server rejects', () => {
  const passes = fc.array(fc.integer({ min: 1, max: 25 }), { minLength: 150, maxLength: 150 })
  fc.assert(
    fc.property(passes, (hoursBetween) => {
      let now = START
      let bundle: CertificateBundle = renewBundle(undefined, now, policy)
      for (const hours of hoursBetween) {
        const previous = bundle
        now += hours * HOUR
        bundle = renewBundle(previous, now, policy)
        // A slow replica still shows the previous certificate; a slow API server still trusts the previous authorities.
        assert.ok(isAccepted(bundle.authorities, previous.leaf.cert, now), 'a slow replica is accepted')
        assert.ok(isAccepted(previous.authorities, bundle.leaf.cert, now), 'a slow API server accepts')
        assert.ok(bundle.authorities.length <= 2)
      }
    }),
    { numRuns: 10, endOnFailure: true },
  )
})
