/**
 * Why a model could not be fetched. The agent in the init container writes the failure as JSON to the termination log.
 * The planner reads it from the status of the pod and reports it in the status of the model.
 */

export const fetchFailureReasons = [
  'ArtifactNotFound',
  'AccessDenied',
  'NoSpace',
  'ChecksumMismatch',
  'Unreachable',
  'Invalid',
] as const

export type FetchFailureReason = (typeof fetchFailureReasons)[number]

export interface FetchFailure {
  readonly reason: FetchFailureReason
  /** Human-readable: the problem and the fix. Contains no secrets. */
  readonly message: string
}

/** In characters of up to three bytes. The kubelet keeps 4096 bytes of a termination message. */
const LONGEST_MESSAGE = 1_300

/** Formats a failure for the termination log. Shortens the message, because the kubelet would truncate the JSON. */
export function fetchFailureText({ reason, message }: FetchFailure): string {
  const cut = message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE)}…` : message
  return JSON.stringify({ reason, message: cut })
}

/** Parses a termination message. Returns undefined if the agent did not write it, for example after an OOM kill. */
export function parseFetchFailure(text: string | undefined): FetchFailure | undefined {
  if (text === undefined || !text.trimStart().startsWith('{')) return undefined
  try {
    const { reason, message } = JSON.parse(text) as Partial<FetchFailure>
    const isKnown = fetchFailureReasons.some((one) => one === reason)
    return isKnown && typeof message === 'string' ? { reason: reason as FetchFailureReason, message } : undefined
  } catch {
    return undefined
  }
}
