/**
 * The certificates of the webhook as one value, and when to renew them. Pure except for the generation of keys: the time is
 * a parameter.
 *
 * An authority is trusted before it is used. A new one is added to `authorities`, which the CRD publishes to the API
 * server, and signs nothing for `settleMs`. The old one stays trusted until it expires. So the API server always accepts
 * the certificate that a replica still serves.
 */

import { X509Certificate } from 'node:crypto'
import { createCa, issue, type KeyPair } from '../kube/x509.ts'

export interface CertificateBundle {
  /** Certificates of the trusted authorities, PEM, the newest first. */
  readonly authorities: readonly [string, ...string[]]
  /** Private key of the newest authority. */
  readonly authorityKey: string
  /** The certificate of the server. */
  readonly leaf: KeyPair
}

export interface Lifetimes {
  readonly authorityMs: number
  readonly leafMs: number
  /**
   * Time from publishing an authority to its first use, so that all API servers and replicas know it. Training pods keep
   * the authorities that they started with, so it is as long as most of them run; and shorter than a third of `leafMs`,
   * because the leaf of the last authority must last until then.
   */
  readonly settleMs: number
}

export interface CertificatePolicy extends Lifetimes {
  readonly dnsNames: readonly string[]
  readonly ipAddresses?: readonly string[]
}

const DAY_MS = 86_400_000

export const lifetimes: Lifetimes = { authorityMs: 730 * DAY_MS, leafMs: 90 * DAY_MS, settleMs: 14 * DAY_MS }

/** Renewal starts after two thirds of the lifetime. */
const RENEW_AT = 2 / 3

/** Clocks differ: a new certificate must also be valid on a machine whose clock is behind. */
const SKEW_MS = 60_000

/** Returns the bundle to use now: the same object if nothing is due. */
export function renewBundle(
  bundle: CertificateBundle | undefined,
  now: number,
  policy: CertificatePolicy,
): CertificateBundle {
  if (bundle === undefined || isExpired(bundle.authorities[0], now)) return createBundle(now, policy)
  // The leaf first: after a new authority is added, the leaf must last until that one may sign.
  return renewAuthority(renewLeaf(bundle, now, policy), now, policy)
}

/** The time of the next change by `renewBundle`. */
export function nextRenewal(bundle: CertificateBundle, policy: CertificatePolicy): number {
  const [newest] = bundle.authorities
  const settled = createdAt(newest, policy.authorityMs) + policy.settleMs
  const leafDue = isSignedBy(bundle.leaf.cert, newest) ? dueAt(bundle.leaf.cert, policy.leafMs) : settled
  return Math.min(leafDue, dueAt(newest, policy.authorityMs))
}

export const expiresAt = (cert: string): number => new X509Certificate(cert).validToDate.getTime()

function createBundle(now: number, policy: CertificatePolicy): CertificateBundle {
  const authority = createAuthority(now, policy)
  return { authorities: [authority.cert], authorityKey: authority.key, leaf: createLeaf(authority, now, policy) }
}

function renewAuthority(bundle: CertificateBundle, now: number, policy: CertificatePolicy): CertificateBundle {
  const [newest, ...older] = bundle.authorities
  const trusted = older.filter((authority) => !isExpired(authority, now))
  if (now >= dueAt(newest, policy.authorityMs)) {
    const { cert, key } = createAuthority(now, policy)
    return { ...bundle, authorities: [cert, newest, ...trusted], authorityKey: key }
  }
  return trusted.length === older.length ? bundle : { ...bundle, authorities: [newest, ...trusted] }
}

function renewLeaf(bundle: CertificateBundle, now: number, policy: CertificatePolicy): CertificateBundle {
  const { authorities, authorityKey, leaf } = bundle
  const [newest] = authorities
  const isSettled = now >= createdAt(newest, policy.authorityMs) + policy.settleMs
  const isDue = now >= dueAt(leaf.cert, policy.leafMs) || !isSignedBy(leaf.cert, newest)
  const isUnusable = isExpired(leaf.cert, now) || !covers(leaf.cert, policy)
  const isOwn = isSignedBy(leaf.cert, newest)
  if (!isUnusable && !(isDue && (isSettled || isOwn))) return bundle
  return { ...bundle, leaf: createLeaf({ cert: newest, key: authorityKey }, now, policy) }
}

function createAuthority(now: number, { authorityMs }: Lifetimes): KeyPair {
  return createCa({
    // A unique name, so that an old and a new authority are never confused.
    commonName: `ml-operator webhook ${new Date(now).toISOString()}`,
    notBefore: new Date(now - SKEW_MS),
    notAfter: new Date(now + authorityMs),
  })
}

function createLeaf(authority: KeyPair, now: number, policy: CertificatePolicy): KeyPair {
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
const createdAt = (cert: string, lifeMs: number): number => expiresAt(cert) - lifeMs
const dueAt = (cert: string, lifeMs: number): number => createdAt(cert, lifeMs) + lifeMs * RENEW_AT

function isSignedBy(cert: string, authority: string): boolean {
  return new X509Certificate(cert).verify(new X509Certificate(authority).publicKey)
}

function covers(cert: string, { dnsNames, ipAddresses = [] }: CertificatePolicy): boolean {
  const leaf = new X509Certificate(cert)
  return (
    dnsNames.every((name) => leaf.checkHost(name) !== undefined) &&
    ipAddresses.every((address) => leaf.checkIP(address) !== undefined)
  )
}
