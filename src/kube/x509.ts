/**
 * A small certificate authority: self-signed CAs and the leaf certificates they issue, all EC P-256 with SHA-256. It is
 * made for the operator's own TLS endpoints: no revocation, no intermediates, no parsing beyond `node:crypto`.
 */

import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign, X509Certificate } from 'node:crypto'
import { isIPv4 } from 'node:net'
import {
  bitString,
  boolean,
  explicit,
  implicit,
  integer,
  objectIdentifier,
  octetString,
  sequence,
  set,
  time,
  utf8String,
} from './der.ts'

/** A certificate and its private key, both PEM. */
export interface KeyPair {
  readonly cert: string
  readonly key: string
}

export interface Subject {
  readonly commonName: string
  /** The group of a client in Kubernetes. */
  readonly organization?: string
}

export interface Validity {
  /** Default: one minute ago, because the clocks of two machines differ. */
  readonly notBefore?: Date
  readonly notAfter: Date
}

export type Usage = 'server' | 'client'

export interface CaRequest extends Subject, Validity {}

export interface LeafRequest extends Subject, Validity {
  readonly dnsNames?: readonly string[]
  readonly ipAddresses?: readonly string[]
  readonly usages: readonly Usage[]
}

const OID = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  server: '1.3.6.1.5.5.7.3.1',
  client: '1.3.6.1.5.5.7.3.2',
} as const

const SKEW_MS = 60_000
const SIGNATURE_ALGORITHM = sequence(objectIdentifier(OID.ecdsaWithSha256))

/** Creates a self-signed authority. */
export function createCa(request: CaRequest): KeyPair {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return createCertificate({
    subject: request,
    issuer: request,
    validity: request,
    publicKey,
    privateKey,
    signingKey: privateKey,
    extensions: [
      extension(OID.basicConstraints, sequence(boolean(true)), true),
      extension(OID.keyUsage, bitString(Buffer.from([0b0000_0110]), 1), true), // keyCertSign, cRLSign
      extension(OID.subjectKeyIdentifier, octetString(keyIdentifier(publicKey))),
    ],
  })
}

/** Issues a leaf certificate, signed by an authority of `createCa`. */
export function issue(ca: KeyPair, request: LeafRequest): KeyPair {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const authority = new X509Certificate(ca.cert)
  return createCertificate({
    subject: request,
    issuer: subjectOf(authority),
    validity: request,
    publicKey,
    privateKey,
    signingKey: ca.key,
    extensions: [
      extension(OID.basicConstraints, sequence(), true),
      extension(OID.keyUsage, bitString(Buffer.from([0b1000_0000]), 7), true), // digitalSignature
      extension(OID.extendedKeyUsage, sequence(...request.usages.map((usage) => objectIdentifier(OID[usage])))),
      extension(OID.subjectKeyIdentifier, octetString(keyIdentifier(publicKey))),
      extension(OID.authorityKeyIdentifier, sequence(implicit(0, keyIdentifier(authority.publicKey)))),
      ...subjectAltName(request),
    ],
  })
}

interface CertificateFields {
  readonly subject: Subject
  readonly issuer: Subject
  readonly validity: Validity
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
  readonly signingKey: KeyObject | string
  readonly extensions: readonly Buffer[]
}

function createCertificate(fields: CertificateFields): KeyPair {
  const { notBefore = new Date(Date.now() - SKEW_MS), notAfter } = fields.validity
  const body = sequence(
    explicit(0, integer(Buffer.from([2]))), // version 3
    integer(serialNumber()),
    SIGNATURE_ALGORITHM,
    distinguishedName(fields.issuer),
    sequence(time(notBefore), time(notAfter)),
    distinguishedName(fields.subject),
    fields.publicKey.export({ type: 'spki', format: 'der' }),
    explicit(3, sequence(...fields.extensions)),
  )
  const signature = sign('sha256', body, fields.signingKey)
  return {
    cert: pem('CERTIFICATE', sequence(body, SIGNATURE_ALGORITHM, bitString(signature))),
    key: fields.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

/** Random, positive and not zero, as RFC 5280 requires. */
function serialNumber(): Buffer {
  const serial = randomBytes(16)
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40
  return serial
}

function distinguishedName({ commonName, organization }: Subject): Buffer {
  return sequence(
    ...(organization === undefined ? [] : [attribute(OID.organization, organization)]),
    attribute(OID.commonName, commonName),
  )
}

const attribute = (oid: string, value: string): Buffer => set(sequence(objectIdentifier(oid), utf8String(value)))

/** The issuer must equal the authority's subject byte for byte. It does, because this module writes both. */
function subjectOf(authority: X509Certificate): Subject {
  const { CN, O } = authority.toLegacyObject().subject
  return { commonName: String(CN), ...(O === undefined ? {} : { organization: String(O) }) }
}

function extension(oid: string, value: Buffer, critical = false): Buffer {
  return sequence(objectIdentifier(oid), ...(critical ? [boolean(true)] : []), octetString(value))
}

function subjectAltName({ dnsNames = [], ipAddresses = [] }: LeafRequest): Buffer[] {
  if (dnsNames.length + ipAddresses.length === 0) return []
  const names = [
    ...dnsNames.map((name) => implicit(2, Buffer.from(name, 'ascii'))),
    ...ipAddresses.map((address) => implicit(7, addressBytes(address))),
  ]
  return [extension(OID.subjectAltName, sequence(...names))]
}

function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number))
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const left = groups(head)
  const right = groups(tail ?? '')
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0')
  return Buffer.from([...left, ...zeros, ...right].map((group) => group.padStart(4, '0')).join(''), 'hex')
}

const groups = (text: string): string[] => text.split(':').filter((group) => group !== '')

/** SHA-1 of the public point: an identifier, not a security property (RFC 5280, 4.2.1.2). */
function keyIdentifier(key: KeyObject): Buffer {
  const point = key.export({ type: 'spki', format: 'der' }).subarray(-65)
  return createHash('sha1').update(point).digest()
}

function pem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n')
}
