/**
 * The conversion webhook as a whole: a server, its certificates, and the API server's trust in them.
 *
 * Guarantees: ready only when the server shows a certificate that the API server has been told to trust; certificates
 * are renewed at two thirds of their life without a restart; all replicas show the same one; an authority is published
 * before anything signed by it is shown. A pass that fails changes nothing and is tried again.
 */

import type { Client } from '../kube/client.ts'
import { isAlreadyExists, isConflict } from '../kube/errors.ts'
import type { ObjectKey } from '../kube/object.ts'
import { type Clock, sleep } from '../runtime/clock.ts'
import type { Logger } from '../runtime/log.ts'
import {
  type CertificateBundle,
  type CertificatePolicy,
  expiresAt,
  lifetimes,
  type Lifetimes,
  nextRenewal,
  renewed,
} from './certificate-bundle.ts'
import { loadBundle, storeBundle } from './certificate-secret.ts'
import { type ConversionServer, startConversionServer } from './conversion-server.ts'
import { publishTrust, type WebhookEndpoint } from './conversion-trust.ts'

export interface ConversionWebhookOptions {
  readonly client: Client
  readonly clock: Clock
  readonly log: Logger
  /** Where the API server finds us. */
  readonly endpoint: WebhookEndpoint
  /** The Secret that the replicas share. */
  readonly secret: ObjectKey
  readonly port: number
  readonly host?: string
  readonly lifetimes?: Lifetimes
  /** How often to look whether another replica has renewed, or somebody has changed the definition. */
  readonly pollMs?: number
}

export interface ConversionWebhook {
  readonly port: number
  /** For readiness: undefined when the API server can call us, else what it is still waiting for. */
  check(): string | undefined
  /** For a metric: when the certificate in use expires, in milliseconds since the epoch. */
  readonly certificateExpiresAt: number | undefined
  close(): Promise<void>
}

const POLL_MS = 60_000
const RETRY_MS = 1_000

/** Starts listening and begins to keep the certificates; returns without waiting for the first of them. */
export async function startConversionWebhook(options: ConversionWebhookOptions): Promise<ConversionWebhook> {
  const { port, host } = options
  const server = await startConversionServer(host === undefined ? { port } : { port, host })
  const stop = new AbortController()
  const keeper = new CertificateKeeper(options, server)
  const running = keeper.run(stop.signal)
  return {
    port: server.port,
    check: () => keeper.check(),
    get certificateExpiresAt() {
      return keeper.certificateExpiresAt
    },
    close: async () => {
      stop.abort()
      await running
      await server.close()
    },
  }
}

class CertificateKeeper {
  readonly #options: ConversionWebhookOptions
  readonly #server: ConversionServer
  readonly #policy: CertificatePolicy
  #shown: CertificateBundle | undefined
  #problem: string | undefined = 'no certificate yet'

  constructor(options: ConversionWebhookOptions, server: ConversionServer) {
    this.#options = options
    this.#server = server
    this.#policy = { ...(options.lifetimes ?? lifetimes), ...namesOf(options.endpoint) }
  }

  check(): string | undefined {
    if (this.#shown === undefined) return this.#problem
    return this.#options.clock.now() < expiresAt(this.#shown.leaf.cert) ? undefined : `expired: ${this.#problem}`
  }

  get certificateExpiresAt(): number | undefined {
    return this.#shown && expiresAt(this.#shown.leaf.cert)
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const pause = await this.#pass()
      await sleep(this.#options.clock, pause, signal)
    }
  }

  /** One look at everything; returns how long to wait before the next. */
  async #pass(): Promise<number> {
    const { clock, log, pollMs = POLL_MS } = this.#options
    try {
      const bundle = await this.#currentBundle()
      await this.#show(bundle)
      this.#problem = undefined
      return Math.min(pollMs, Math.max(nextRenewal(bundle, this.#policy) - clock.now(), 0))
    } catch (error) {
      if (isConflict(error) || isAlreadyExists(error)) return 0 // another replica was faster: use what it stored
      this.#problem = error instanceof Error ? error.message : String(error)
      log.warn({ err: error }, 'webhook certificates could not be brought up to date')
      return Math.min(pollMs, RETRY_MS)
    }
  }

  async #currentBundle(): Promise<CertificateBundle> {
    const { client, clock, secret, log } = this.#options
    const stored = await loadBundle(client, secret)
    const bundle = renewed(stored.bundle, clock.now(), this.#policy)
    if (bundle === stored.bundle) return bundle
    await storeBundle(client, secret, bundle, stored)
    log.info({ expires: new Date(expiresAt(bundle.leaf.cert)).toISOString() }, 'webhook certificates renewed')
    return bundle
  }

  /** Trust first, then the certificate. */
  async #show(bundle: CertificateBundle): Promise<void> {
    const { client, endpoint, log } = this.#options
    if (await publishTrust(client, bundle.authorities, endpoint)) {
      log.info({ authorities: bundle.authorities.length }, 'conversion webhook published')
    }
    if (bundle.leaf.cert !== this.#shown?.leaf.cert) this.#server.useCertificate(bundle.leaf)
    this.#shown = bundle
  }
}

/** The names that the API server checks the certificate against. */
function namesOf(endpoint: WebhookEndpoint): Pick<CertificatePolicy, 'dnsNames' | 'ipAddresses'> {
  if ('url' in endpoint) {
    const host = new URL(endpoint.url).hostname.replaceAll(/[[\]]/g, '')
    return /^[\d.]+$|:/.test(host) ? { dnsNames: [], ipAddresses: [host] } : { dnsNames: [host] }
  }
  const { name, namespace } = endpoint.service
  return { dnsNames: [`${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`] }
}
