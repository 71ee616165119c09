/** The Secret with which the replicas of the operator share the certificates of the webhook. */

import type { Client } from '../kube/client.ts'
import { isNotFound } from '../kube/errors.ts'
import type { KubeObject, ObjectKey, Resource } from '../kube/object.ts'
import { X509Certificate } from 'node:crypto'
import type { CertificateBundle } from './certificate-bundle.ts'

interface Secret extends KubeObject {
  readonly type?: string
  readonly data?: Readonly<Record<string, string>>
}

const secrets: Resource<Secret> = { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true }

export interface StoredBundle {
  readonly bundle: CertificateBundle | undefined
  /** Absent when there is no Secret yet. */
  readonly secret: Secret | undefined
}

/** Loads the bundle. Undefined if the Secret is empty or has no valid certificates. */
export async function loadBundle(client: Client, key: ObjectKey, signal?: AbortSignal): Promise<StoredBundle> {
  try {
    const secret = await client.get(secrets, key, signal ? { signal } : {})
    return { secret, bundle: decode(secret.data ?? {}) }
  } catch (error) {
    if (isNotFound(error)) return { secret: undefined, bundle: undefined }
    throw error
  }
}

/** Fails with Conflict or AlreadyExists if another replica was faster: load its bundle instead. */
export async function storeBundle(
  client: Client,
  key: ObjectKey,
  bundle: CertificateBundle,
  { secret }: StoredBundle,
): Promise<void> {
  const data = encode(bundle)
  if (secret !== undefined) {
    await client.update(secrets, { ...secret, data: { ...secret.data, ...data } })
    return
  }
  const labels = { 'app.kubernetes.io/part-of': 'ml-operator' }
  await client.create(secrets, { apiVersion: 'v1', kind: 'Secret', metadata: { ...key, labels }, type: 'Opaque', data })
}

function encode({ authorities, authorityKey, leaf }: CertificateBundle): Record<string, string> {
  const texts = { 'ca.crt': authorities.join(''), 'ca.key': authorityKey, 'tls.crt': leaf.cert, 'tls.key': leaf.key }
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, Buffer.from(text).toString('base64')]))
}

function decode(data: Readonly<Record<string, string>>): CertificateBundle | undefined {
  const text = (name: string): string => Buffer.from(data[name] ?? '', 'base64').toString()
  const [newest, ...older] = text('ca.crt').match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/g) ?? []
  if (newest === undefined) return undefined
  const leaf = { cert: text('tls.crt'), key: text('tls.key') }
  const readable = [newest, ...older, leaf.cert].every(isCertificate) && leaf.key !== '' && text('ca.key') !== ''
  return readable ? { authorities: [newest, ...older], authorityKey: text('ca.key'), leaf } : undefined
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0
  } catch {
    return false
  }
}
