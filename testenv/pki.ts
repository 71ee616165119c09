/** The cluster's certificates: one CA for all, one for aggregated API servers, and the ServiceAccount signing key. */

import { generateKeyPairSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { createCa, issue, type KeyPair, type LeafRequest } from '../src/kube/x509.ts'
import { subdirectory } from './run-directory.ts'

const YEAR_MS = 365 * 24 * 3600 * 1000

export interface KeyPairFiles {
  readonly cert: string
  readonly key: string
}

export type LeafOptions = Omit<LeafRequest, 'notAfter' | 'notBefore'>

export class Pki {
  readonly directory: string
  readonly #notAfter = new Date(Date.now() + YEAR_MS)
  readonly #ca: KeyPair
  readonly #frontProxyCa: KeyPair

  constructor(runDirectory: string) {
    this.directory = subdirectory(runDirectory, 'pki')
    this.#ca = createCa({ commonName: 'ml-operator-testenv', notAfter: this.#notAfter })
    this.#frontProxyCa = createCa({ commonName: 'ml-operator-testenv-front-proxy', notAfter: this.#notAfter })
    this.#write('ca', this.#ca)
    this.#write('front-proxy-ca', this.#frontProxyCa)
    this.#writeServiceAccountKeys()
  }

  file(name: string): string {
    return join(this.directory, name)
  }

  /** A certificate of the cluster's CA, written as NAME.crt and NAME.key. */
  issue(name: string, options: LeafOptions): KeyPairFiles {
    return this.#write(name, issue(this.#ca, { ...options, notAfter: this.#notAfter }))
  }

  issueFrontProxyClient(): KeyPairFiles {
    const request = { commonName: 'front-proxy-client', usages: ['client'], notAfter: this.#notAfter } as const
    return this.#write('front-proxy-client', issue(this.#frontProxyCa, request))
  }

  #write(name: string, pair: KeyPair): KeyPairFiles {
    const files = { cert: this.file(`${name}.crt`), key: this.file(`${name}.key`) }
    writeFileSync(files.cert, pair.cert)
    writeFileSync(files.key, pair.key, { mode: 0o600 })
    return files
  }

  #writeServiceAccountKeys(): void {
    const pair = generateKeyPairSync('ec', {
      namedCurve: 'P-256',
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'sec1', format: 'pem' },
    })
    writeFileSync(this.file('service-account.pub'), pair.publicKey)
    writeFileSync(this.file('service-account.key'), pair.privateKey, { mode: 0o600 })
  }
}
