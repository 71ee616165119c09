/**
 * Accepts a report on the leader: verifies the token, that its pod is a member of the job, and the rate of the job, then
 * parses the body and stores it. Nothing that a pod sends affects another job.
 */
import { TokenBuckets, type Clock, type Logger, ReviewsBusy } from '../runtime/index.ts'
import type { ObjectKey } from '../kube/object.ts'
import type { Answer } from '../net/http-server.ts'
import { parseReportBody, ReportError, type ReportFormat } from './report-body.ts'
import type { ReportStore } from './report-store.ts'
import type { BoundPod, TokenVerifier } from './token-verifier.ts'

/** A job and whether it has ended. */
export interface FoundJob {
  readonly uid: string
  readonly isFinished: boolean
}

export interface ReceiverDeps {
  readonly verifier: Pick<TokenVerifier, 'verify'>
  /** The job, if the pod is a member of it. */
  readonly findJob: (key: Required<ObjectKey>, pod: BoundPod) => FoundJob | undefined
  readonly store: Pick<ReportStore, 'add'>
  /** Undefined if the caches are complete, else what is missing. */
  readonly notReady: () => string | undefined
  readonly clock: Clock
  readonly log: Logger
}

export interface Delivery {
  readonly key: Required<ObjectKey>
  readonly format: ReportFormat
  readonly token: string
  readonly body: string
}

/** Reports of one job: more than any training code needs, also if all ranks report. */
const BURST = 60
const REFILL_MS = 33

const text = (status: number, reason: string): Answer => ({ status, body: `${reason}\n` })

export class Receiver {
  readonly #deps: ReceiverDeps
  readonly #rates: TokenBuckets

  constructor(deps: ReceiverDeps) {
    this.#deps = deps
    this.#rates = new TokenBuckets({ burst: BURST, refillMs: REFILL_MS, clock: deps.clock })
  }

  async receive(delivery: Delivery): Promise<Answer> {
    const missing = this.#deps.notReady()
    if (missing !== undefined) return text(503, `not ready, ${missing}: try again`)
    const pod = await this.#podOf(delivery.token)
    if (pod === 'unknown') return text(503, 'the token cannot be verified now: try again')
    if (!pod) return text(401, 'the token is invalid or expired: read ML_OPERATOR_REPORT_TOKEN_FILE again')
    const job = this.#deps.findJob(delivery.key, pod)
    if (!job) return text(403, `pod ${pod.name} does not belong to this job: use ML_OPERATOR_REPORT_URL of the pod`)
    if (!this.#rates.take(job.uid)) return text(429, 'too many reports of this job: send fewer, from rank 0 only')
    return this.#store(delivery, pod, job)
  }

  #store({ key, format, body }: Delivery, pod: BoundPod, { uid, isFinished }: FoundJob): Answer {
    try {
      const { report, ignored } = parseReportBody(body, format)
      if (!isFinished) this.#deps.store.add({ key, uid }, pod.uid, report, 'Report')
      if (ignored.length > 0) this.#deps.log.debug({ ...key, ignored }, 'omitted values of a report')
      return accepted(format)
    } catch (error) {
      if (!(error instanceof ReportError)) throw error
      return text(400, error.message)
    }
  }

  async #podOf(token: string): Promise<BoundPod | 'unknown' | undefined> {
    try {
      return await this.#deps.verifier.verify(token)
    } catch (error) {
      const level = error instanceof ReviewsBusy ? 'debug' : 'warn'
      this.#deps.log[level]({ err: error }, 'cannot verify the token of a report')
      return 'unknown'
    }
  }
}

/** Clients of KEP-2779 expect 200. */
const accepted = (format: ReportFormat): Answer =>
  format === 'own' ? { status: 204, body: '' } : { status: 200, type: 'application/json', body: '{}\n' }
