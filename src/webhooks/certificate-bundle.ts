/**
 * The certificates of the webhook as one value, and when they are due for renewal. Pure but for the making of keys:
 * time is passed in.
 *
 * An authority is trusted before it is used: a new one joins the old in `authorities` (which the API server is told)
 * and signs nothing until it has been there for `settleMs`. The old one stays trusted until it expires. So at any
 * moment, whatever certificate a replica still serves is one the API server accepts.
 */

import { X509Certificate } from 'node:crypto'
import { createCa, issue, type KeyPair } from '../kube/x509.ts'

export interface CertificateBundle {
  /** Certificates of the authorities to trust, PEM, the newest first. */
  readonly authorities: readonly [string, ...string[]]
  /** Private key of the newest authority. */
  readonly authorityKey: string
  /** What the server shows. */
  readonly leaf: KeyPair
}

export interface Lifetimes {
  readonly authorityMs: number
  readonly leafMs: number
  /** How long an authority is trusted before it signs: time for every API server and every replica to hear of it. */
  readonly settleMs: number
}

export interface CertificatePolicy extends Lifetimes {
  readonly dnsNames: readonly string[]
  readonly ipAddresses?: readonly string[]
}

const DAY_MS = 86_400_000

export const lifetimes: Lifetimes = { authorityMs: 730 * DAY_MS, leafMs: 90 * DAY_MS, settleMs: 600_000 }

/** Two thirds of a life are for use, the last third for trying to renew. */
const RENEW_AT = 2 / 3

/** Clocks differ: what is new here may not be valid yet there. */
const SKEW_MS = 60_000

/** The bundle that should be in use now: the very same one if nothing is due. */
export function renewed(
  bundle: CertificateBundle | undefined,
  now: number,
  policy: CertificatePolicy,
): CertificateBundle {
  if (bundle === undefined || isExpired(bundle.authorities[0], now)) return created(now, policy)
  // The leaf first: once a new authority has joined, the leaf has to last until that one may sign.
  return withCurrentAuthority(withCurrentLeaf(bundle, now, policy), now, policy)
}

/** The next moment at which `renewed` would return something else. */
export function nextRenewal(bundle: CertificateBundle, policy: CertificatePolicy): number {
  const [newest] = bundle.authorities
  const settled = bornAt(newest, policy.authorityMs) + policy.settleMs
  const leafDue = signed(bundle.leaf.cert, newest) ? dueAt(bundle.leaf.cert, policy.leafMs) : settled
  return Math.min(leafDue, dueAt(newest, policy.authorityMs))
}

export const expiresAt = (cert: string): number => new X509Certificate(cert).validToDate.getTime()

function created(now: number, policy: CertificatePolicy): CertificateBundle {
  const authority = newAuthority(now, policy)
  return { authorities: [authority.cert], authorityKey: authority.key, leaf: newLeaf(authority, now, policy) }
}

function withCurrentAuthority(bundle: CertificateBundle, now: number, policy: CertificatePolicy): CertificateBundle {
  const [newest, ...older] = bundle.authorities
  const trusted = older.filter((authority) => !isExpired(authority, now))
  if (now >= dueAt(newest, policy.authorityMs)) {
    const { cert, key } = newAuthority(now, policy)
    return { ...bundle, authorities: [cert, newest, ...trusted], authorityKey: key }
  }
  return trusted.length === older.length ? bundle : { ...bundle, authorities: [newest, ...trusted] }
}

function withCurrentLeaf(bundle: CertificateBundle, now: number, policy: CertificatePolicy): CertificateBundle {
  const { authorities, authorityKey, leaf } = bundle
  const [newest] = authorities
  const isSettled = now >= bornAt(newest, policy.authorityMs) + policy.settleMs
  const isDue = now >= dueAt(leaf.cert, policy.leafMs) || !signed(leaf.cert, newest)
  const isUseless = isExpired(leaf.cert, now) || !covers(leaf.cert, policy)
  const isOwn = signed(leaf.cert, newest)
  if (!isUseless && !(isDue && (isSettled || isOwn))) return bundle
  return { ...bundle, leaf: newLeaf({ cert: newest, key: authorityKey }, now, policy) }
}

function newAuthority(now: number, { authorityMs }: Lifetimes): KeyPair {
  return createCa({
    // A name of its own for each, so that an old and a new one are never taken for each other.
    commonName: `ml-operator webhook ${new Date(now).toISOString()}`,
    notBefore: new Date(now - SKEW_MS),
    notAfter: new Date(now + authorityMs),
  })
}

function newLeaf(authority: KeyPair, now: number, policy: CertificatePolicy): KeyPair {
  return issue(authority, {
    commonName: 'ml-operator webhook',
    dnsNames: policy.dnsNames,
    ipAddresses: policy.ipAddresses ?? [],
    usages: ['server'],
    notBefore: new Date(now - SKEW_MS),
    notAfter: new Date(now + policy.leafMs),
  })
}

const isExpired = (cert: string, now: number): boolean => now >= expiresAt(cert)
const bornAt = (cert: string, lifeMs: number): number => expiresAt(cert) - lifeMs
const dueAt = (cert: string, lifeMs: number): number => bornAt(cert, lifeMs) + lifeMs * RENEW_AT

function signed(cert: string, authority: string): boolean {
  return new X509Certificate(cert).verify(new X509Certificate(authority).publicKey)
}

function covers(cert: string, { dnsNames, ipAddresses = [] }: CertificatePolicy): boolean {
  const leaf = new X509Certificate(cert)
  return (
    dnsNames.every((name) => leaf.checkHost(name) !== undefined) &&
    ipAddresses.every((address) => leaf.checkIP(address) !== undefined)
  )
}
