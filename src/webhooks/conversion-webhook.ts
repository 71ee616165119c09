/**
 * The conversion webhook: a server, its certificates, and their publication in the CRD.
 *
 * Guarantees
 * - Ready only if the server has a certificate whose authority is published in the CRD.
 * - Certificates are renewed after two thirds of their lifetime, without a restart. All replicas use the same one.
 * - An authority is published before a certificate that it has signed is used.
 * - A failed pass changes nothing and is retried.
 *
 * With certificates that others provide, the webhook is ready if the server has one that is valid, and uses a new one soon
 * after it is in the directory.
 */

import type { Client } from '../kube/client.ts'
import { isAlreadyExists, isConflict } from '../kube/errors.ts'
import type { ObjectKey } from '../kube/object.ts'
import type { KeyPair } from '../kube/x509.ts'
import { type Clock, pause } from '../runtime/clock.ts'
import type { Logger } from '../runtime/log.ts'
import {
  type CertificateBundle,
  type CertificatePolicy,
  expiresAt,
  lifetimes,
  type Lifetimes,
  nextRenewal,
  renewBundle,
} from './certificate-bundle.ts'
import { CertificateReader } from './certificate-reader.ts'
import { loadBundle, storeBundle } from './certificate-secret.ts'
import { type ConversionServer, startConversionServer } from './conversion-server.ts'
import { publishTrust, type WebhookEndpoint } from './conversion-trust.ts'

/** A certificate in use, for other servers of this process. */
export interface ServedCertificate {
  readonly leaf: KeyPair
  /** The authorities to trust, PEM. Undefined if others provide the certificate without them. */
  readonly ca: string | undefined
}

export interface WebhookServerOptions {
  readonly clock: Clock
  readonly log: Logger
  readonly port: number
  readonly host?: string
  /** Interval of checks for a renewal by others and for changes of the CRD. */
  readonly pollMs?: number
  /** Called for the first certificate, and when the certificate or the authorities change. */
  readonly onCertificate?: (certificate: ServedCertificate) => void
}

export interface ConversionWebhookOptions extends WebhookServerOptions {
  readonly client: Client
  /** How the API server reaches this server. */
  readonly endpoint: WebhookEndpoint
  /** The Secret that the replicas share. */
  readonly secret: ObjectKey
  readonly lifetimes?: Lifetimes
}

export interface MountedWebhookOptions extends WebhookServerOptions {
  /** Has `tls.crt` and `tls.key`, as a mounted Secret of type `kubernetes.io/tls`. */
  readonly directory: string
}

export interface ConversionWebhook {
  readonly port: number
  /** Readiness check: undefined if the API server can call the webhook, else the reason. */
  check(): string | undefined
  /** Expiry of the certificate in use, in milliseconds since the epoch. */
  readonly certificateExpiresAt: number | undefined
  close(): Promise<void>
}

const POLL_MS = 60_000
const RETRY_MS = 1_000

/** Starts the server and the renewal of certificates. Does not wait for the first certificate. */
export async function startConversionWebhook(options: ConversionWebhookOptions): Promise<ConversionWebhook> {
  return startWebhook(options, (server) => new CertificateKeeper(options, server))
}

/**
 * Starts the server with certificates that others issue and renew, such as cert-manager. They also set the CA bundle of the
 * CRD: this webhook neither reads nor writes the cluster.
 */
export async function startMountedWebhook(options: MountedWebhookOptions): Promise<ConversionWebhook> {
  return startWebhook(options, (server) => new CertificateReader(options, server))
}

/** Provides the certificate of the server until the signal aborts. */
interface CertificateProvider {
  run(signal: AbortSignal): Promise<void>
  check(): string | undefined
  readonly certificateExpiresAt: number | undefined
}

async function startWebhook(
  { port, host }: WebhookServerOptions,
  provide: (server: ConversionServer) => CertificateProvider,
): Promise<ConversionWebhook> {
  const server = await startConversionServer(host === undefined ? { port } : { port, host })
  const stop = new AbortController()
  const provider = provide(server)
  const running = provider.run(stop.signal)
  return {
    port: server.port,
    check: () => provider.check(),
    get certificateExpiresAt() {
      return provider.certificateExpiresAt
    },
    close: async () => {
      stop.abort()
      await running
      await server.close()
    },
  }
}

class CertificateKeeper implements CertificateProvider {
  readonly #options: ConversionWebhookOptions
  readonly #server: ConversionServer
  readonly #policy: CertificatePolicy
  #current: CertificateBundle | undefined
  #problem: string | undefined = 'no certificate yet'

  constructor(options: ConversionWebhookOptions, server: ConversionServer) {
    this.#options = options
    this.#server = server
    this.#policy = { ...(options.lifetimes ?? lifetimes), ...namesOf(options.endpoint) }
  }

  check(): string | undefined {
    if (this.#current === undefined) return this.#problem
    return this.#options.clock.now() < expiresAt(this.#current.leaf.cert) ? undefined : `expired: ${this.#problem}`
  }

  get certificateExpiresAt(): number | undefined {
    return this.#current && expiresAt(this.#current.leaf.cert)
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const delayMs = await this.#pass()
      await pause(this.#options.clock, delayMs, signal)
    }
  }

  /** Checks and renews everything once. Returns the delay until the next pass. */
  async #pass(): Promise<number> {
    const { clock, log, pollMs = POLL_MS } = this.#options
    try {
      const bundle = await this.#currentBundle()
      await this.#use(bundle)
      this.#problem = undefined
      return Math.min(pollMs, Math.max(nextRenewal(bundle, this.#policy) - clock.now(), 0))
    } catch (error) {
      if (isConflict(error) || isAlreadyExists(error)) return 0 // another replica was faster: use its certificates
      this.#problem = error instanceof Error ? error.message : String(error)
      log.warn({ err: error }, 'renewing the webhook certificates failed')
      return Math.min(pollMs, RETRY_MS)
    }
  }

  async #currentBundle(): Promise<CertificateBundle> {
    const { client, clock, secret, log } = this.#options
    const stored = await loadBundle(client, secret)
    const bundle = renewBundle(stored.bundle, clock.now(), this.#policy)
    if (bundle === stored.bundle) return bundle
    await storeBundle(client, secret, bundle, stored)
    log.info({ expires: new Date(expiresAt(bundle.leaf.cert)).toISOString() }, 'renewed the webhook certificates')
    return bundle
  }

  /** Publishes the authorities before it uses the certificate. */
  async #use(bundle: CertificateBundle): Promise<void> {
    const { client, endpoint, log, onCertificate } = this.#options
    if (await publishTrust(client, bundle.authorities, endpoint)) {
      log.info({ authorities: bundle.authorities.length }, 'published the conversion webhook')
    }
    const ca = bundle.authorities.join('')
    const isNewLeaf = bundle.leaf.cert !== this.#current?.leaf.cert
    if (isNewLeaf) this.#server.useCertificate(bundle.leaf)
    if (isNewLeaf || ca !== this.#current?.authorities.join('')) onCertificate?.({ leaf: bundle.leaf, ca })
    this.#current = bundle
  }
}

/** The names that the API server expects in the certificate. */
function namesOf(endpoint: WebhookEndpoint): Pick<CertificatePolicy, 'dnsNames' | 'ipAddresses'> {
  if ('url' in endpoint) {
    const host = new URL(endpoint.url).hostname.replaceAll(/[[\]]/g, '')
    return /^[\d.]+$|:/.test(host) ? { dnsNames: [], ipAddresses: [host] } : { dnsNames: [host] }
  }
  const { name, namespace } = endpoint.service
  return { dnsNames: [`${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`] }
}
