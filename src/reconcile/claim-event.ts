import { Event, type PersistentVolumeClaim } from '../kube/resources.ts'
import type { ReconcileContext } from '../runtime/index.ts'

/** Why a claim is Pending, in the words of its provisioner; undefined if it has none, or they cannot be read. Never throws. */
export type ReadClaimEvent = (claim: PersistentVolumeClaim) => Promise<string | undefined>

const TIMEOUT_MS = 5_000

export function readClaimEvent({
  client,
  signal,
  log,
}: Pick<ReconcileContext, 'client' | 'signal' | 'log'>): ReadClaimEvent {
  return async ({ metadata: { namespace = '', name, uid = '' } }) => {
    const options = { namespace, fieldSelector: `regarding.uid=${uid}`, timeoutMs: TIMEOUT_MS, signal }
    try {
      return latestCause((await client.list(Event, options)).items)
    } catch (error) {
      signal.throwIfAborted()
      log.debug({ err: error, claim: name }, 'cannot read the events of a claim')
      return undefined
    }
  }
}

/** The claim waits for the pod, not the pod for the claim. */
const WAITS_FOR_POD = /^WaitFor(FirstConsumer|PodScheduled)$/

/** The latest warning, or else the latest event. A provisioner that fails emits both kinds in turn. */
export function latestCause(events: readonly Event[]): string | undefined {
  const causes = events.filter(({ reason = '' }) => !WAITS_FOR_POD.test(reason))
  const warnings = causes.filter(({ type }) => type === 'Warning')
  const [latest] = (warnings.length > 0 ? warnings : causes).toSorted((one, other) => timeOf(other) - timeOf(one))
  return latest && `${latest.reason}: ${latest.note}`
}

function timeOf({ series, deprecatedLastTimestamp, eventTime, metadata }: Event): number {
  return Date.parse(
    series?.lastObservedTime ?? deprecatedLastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? '',
  )
}
