/**
 * How a failed reconcile is reported on its object. `classify` of the runtime is the only place that decides whether a person has to
 * act; this module only chooses the place of the report.
 *
 * | failure                                         | report                                                           |
 * | ----------------------------------------------- | ---------------------------------------------------------------- |
 * | needs no action                                 | none                                                             |
 * | a rejected request, or a name that is taken     | recorded in the status, with one event for each cause (`record`) |
 * | any other that needs action, or nothing to record it with | one event, `ReconcileFailed`                           |
 *
 * The error is always thrown on: the controller logs it, counts it and decides about the retry. If `record` fails, its
 * error takes the place of the first one.
 */
import { ApiError } from '../kube/errors.ts'
import type { KubeObject } from '../kube/object.ts'
import type { Trouble } from '../plan/pod-trouble.ts'
import { withAdvice } from '../plan/missing-reference.ts'
import { quotaTrouble } from '../plan/quota.ts'
import { CONFLICT } from '../plan/rejection.ts'
import { type Classification, classify, NameConflict, type Recorder } from '../runtime/index.ts'

export interface Reporting {
  readonly object: KubeObject
  readonly recorder: Recorder
  /** Writes to the status of the object why a request cannot succeed. Emits the event if the cause is new. */
  readonly record?: (trouble: Trouble) => Promise<unknown>
}

/** The limit of the smallest field that the message is written to. */
const MAX_MESSAGE = 1000

/** Runs `work`. A failure that needs a person to act is reported once, and always thrown. */
export async function reportFailures<T>(work: () => Promise<T>, reporting: Reporting): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const classification = classify(error)
    if (classification.needsAction) await report(error, classification, reporting)
    throw error
  }
}

async function report(error: unknown, { code }: Classification, { record, ...where }: Reporting): Promise<void> {
  const trouble = record && troubleOf(error, code)
  if (trouble) return void (await reportFailures(() => record(trouble), where))
  const note = error instanceof Error ? error.message : String(error)
  where.recorder.record(where.object, { type: 'Warning', reason: 'ReconcileFailed', action: 'Reconcile', note })
}

/** What to record. Undefined unless a request was rejected or a name is taken. */
function troubleOf(error: unknown, code: Classification['code']): Trouble | undefined {
  if (error instanceof NameConflict) return { reason: CONFLICT, message: error.message.slice(0, MAX_MESSAGE) }
  if (!(error instanceof ApiError)) return undefined
  const message = error.statusMessage.slice(0, MAX_MESSAGE)
  if (code === 'FieldConflict') return { reason: CONFLICT, message }
  if (code === 'QuotaExceeded') return quotaTrouble(message) ?? { reason: code, message }
  return { reason: 'Refused', message: withAdvice(message) }
}
