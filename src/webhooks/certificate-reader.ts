/**
 * The certificate of the server from a directory that others fill, such as a mounted Secret of cert-manager. The files are
 * polled, because a kubelet replaces them by a link, which not every file system reports. A certificate that cannot be used
 * is reported, and the server keeps the last one.
 */

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { KeyPair } from '../kube/x509.ts'
import { type Clock, pause } from '../runtime/clock.ts'
import type { Logger } from '../runtime/log.ts'
import { expiresAt } from './certificate-bundle.ts'

export interface CertificateReaderOptions {
  readonly clock: Clock
  readonly log: Logger
  readonly directory: string
  readonly pollMs?: number
  /** `ca`: the content of `ca.crt`, if the directory has it. */
  readonly onCertificate?: (certificate: { readonly leaf: KeyPair; readonly ca: string | undefined }) => void
}

interface CertificateUser {
  useCertificate(leaf: KeyPair): void
}

/** A certificate changes weeks before the last one expires. */
const POLL_MS = 10_000

export class CertificateReader {
  readonly #options: CertificateReaderOptions
  readonly #server: CertificateUser
  #current: KeyPair | undefined
  #published: { readonly cert: string; readonly ca: string | undefined } | undefined
  #problem: string | undefined = 'no certificate yet'

  constructor(options: CertificateReaderOptions, server: CertificateUser) {
    this.#options = options
    this.#server = server
  }

  check(): string | undefined {
    if (this.#current === undefined) return this.#problem
    if (this.#options.clock.now() < expiresAt(this.#current.cert)) return undefined
    return `expired: ${this.#problem ?? `renew ${join(this.#options.directory, 'tls.crt')}`}`
  }

  get certificateExpiresAt(): number | undefined {
    return this.#current && expiresAt(this.#current.cert)
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, pollMs = POLL_MS } = this.#options
    while (!signal.aborted) {
      await this.#pass()
      await pause(clock, pollMs, signal)
    }
  }

  /** Other servers use the certificate of the same pass as this one. */
  #publish(leaf: KeyPair, ca: string | undefined): void {
    if (leaf.cert === this.#published?.cert && ca === this.#published.ca) return
    this.#published = { cert: leaf.cert, ca }
    this.#options.onCertificate?.({ leaf, ca })
  }

  async #pass(): Promise<void> {
    const { log, directory } = this.#options
    try {
      const leaf = await readKeyPair(directory)
      this.#publish(leaf, await read(directory, 'ca.crt').catch(() => undefined))
      this.#problem = undefined
      if (leaf.cert === this.#current?.cert && leaf.key === this.#current.key) return
      this.#server.useCertificate(leaf)
      this.#current = leaf
      log.info({ expires: new Date(expiresAt(leaf.cert)).toISOString() }, 'uses a new webhook certificate')
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error)
      if (problem !== this.#problem) log.warn({ err: error }, 'the webhook certificate cannot be used')
      this.#problem = problem
    }
  }
}

/** Rejects a key that does not belong to the certificate: the files may be read while they are replaced. */
async function readKeyPair(directory: string): Promise<KeyPair> {
  const [cert, key] = await Promise.all([read(directory, 'tls.crt'), read(directory, 'tls.key')])
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)))
    throw new Error(`${directory}: tls.key is not the key of tls.crt`)
  return { cert, key }
}

const read = (directory: string, name: string): Promise<string> => readFile(join(directory, name), 'utf8')
