/**
 * Progress reports in the operator: the server, its certificate, and what the training controller reads. The server uses the
 * certificate and the Service of the conversion webhook.
 */
import { Counter } from 'prom-client'
import { REPORT_PORT } from './api/training-report.ts'
import type { HttpsServer } from './net/https-server.ts'
import type { Address } from './net/listening.ts'
import type { Reporting } from './plan/training/index.ts'
import { jobOfPod, type TrainingReports } from './reconcile/training-reports.ts'
import { Follower } from './reports/follower.ts'
import { Forwarder } from './reports/forwarder.ts'
import { Receiver } from './reports/receiver.ts'
import { startReportServer } from './reports/report-server.ts'
import { ReportStore } from './reports/report-store.ts'
import type { LogSourceOptions } from './reports/sources/log.ts'
import { progressReaders } from './reports/sources/registry.ts'
import { REPORT_REVIEWS, TokenVerifier } from './reports/token-verifier.ts'
import { type Manager, Reviews } from './runtime/index.ts'
import type { ServedCertificate } from './webhooks/conversion-webhook.ts'

export interface ReportsOptions {
  readonly manager: Manager
  /** DNS name of the Service by which pods reach the server. */
  readonly serverName: string
  /** Port of the Service. */
  readonly servicePort?: number
  /** Which logs are read for progress. */
  readonly logs?: Partial<Pick<LogSourceOptions, 'maxLogs' | 'delayMs'>>
}

/** Logs that are read at the same time. */
export const DEFAULT_LOGS = 200

export class Reports {
  /** For the training controller. */
  readonly training: TrainingReports
  readonly #options: ReportsOptions
  readonly #store: ReportStore
  readonly #forwarder: Forwarder
  readonly #follower: Follower
  #server: HttpsServer | undefined
  #certificate: ServedCertificate | undefined

  constructor(options: ReportsOptions) {
    const { manager, serverName } = options
    this.#options = options
    this.#store = new ReportStore({ clock: manager.clock })
    this.#forwarder = new Forwarder({ serverName, leaderAddress: () => manager.leaderAddress })
    this.#follower = new Follower({ readers: readersOf(options), store: this.#store, log: manager.log })
    this.training = {
      of: (uid) => this.#store.of(uid),
      problemOf: (uid) => this.#store.problemOf(uid),
      follow: (job, target) => this.#follower.follow(job, target),
      forget: (uid) => {
        this.#follower.stop(uid)
        this.#store.forget(uid)
      },
      onReport: (wake) => this.#store.onReport(wake),
      onEach: (each) => this.#store.onEach(each),
      reporting: () => this.#reporting,
    }
  }

  get source(): { readonly reports: TrainingReports } {
    return { reports: this.training }
  }

  /** Returns the port. */
  async listen(address: Address): Promise<number> {
    const { manager } = this.#options
    this.#server = await startReportServer(address, {
      isLeading: () => manager.isLeading,
      receive: receiving(manager, this.#store),
      forward: (report) => this.#forwarder.forward(report),
      counted: counter(manager),
    })
    if (this.#certificate) this.#server.useCertificate(this.#certificate.leaf)
    return this.#server.port
  }

  useCertificate(certificate: ServedCertificate): void {
    this.#certificate = certificate
    this.#server?.useCertificate(certificate.leaf)
    if (certificate.ca !== undefined) this.#forwarder.useAuthorities(certificate.ca)
    else this.#options.manager.log.warn('pods cannot report progress: the directory of the certificate has no ca.crt')
  }

  async close(): Promise<void> {
    this.#follower.close()
    await this.#server?.close()
    await this.#forwarder.close()
  }

  /** Pods can report only with the authorities of a certificate. */
  get #reporting(): Reporting | undefined {
    const { serverName, servicePort = REPORT_PORT } = this.#options
    const ca = this.#certificate?.ca
    return ca === undefined ? undefined : { url: `https://${serverName}:${servicePort}`, ca }
  }
}

function readersOf({ manager: { client, clock, log }, logs }: ReportsOptions): ReturnType<typeof progressReaders> {
  return progressReaders({
    maxLogs: DEFAULT_LOGS,
    ...logs,
    clock,
    log,
    open: (pod, request) => client.streamLogBytes(pod, { ...request, timeoutMs: LOG_TIMEOUT_MS }),
  })
}

/** Until the log begins. */
const LOG_TIMEOUT_MS = 5_000

function receiving(manager: Manager, store: ReportStore): Receiver['receive'] {
  const { clock, log, caches, client } = manager
  const receiver = new Receiver({
    verifier: new TokenVerifier(new Reviews(client, clock, REPORT_REVIEWS), clock),
    findJob: jobOfPod(caches),
    store,
    notReady: () => (caches.unsynced().length === 0 ? undefined : `waiting for ${caches.unsynced().join(', ')}`),
    clock,
    log,
  })
  return (delivery) => receiver.receive(delivery)
}

function counter({ metrics }: Manager): (status: number) => void {
  const reports = new Counter({
    name: 'trainingjob_reports_total',
    help: 'Progress reports of training pods, by the status code of the response',
    labelNames: ['code'],
    registers: [metrics.registry],
  })
  return (status) => reports.inc({ code: String(status) })
}
