/**
 * Why a model could not be brought into its pod. The agent in the init container writes it as JSON to the container's
 * termination log; the planner reads it from the pod's status and names it in the model's.
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
  /** For people: what is wrong and what to do about it, without a secret in it. */
  readonly message: string
}

/** In characters, which take up to three bytes each; a kubelet keeps 4096 bytes of a termination message. */
const LONGEST_MESSAGE = 1_300

/** As it stands in the termination log. A kubelet cuts what is too long, which would leave no JSON: so it is cut here. */
export function fetchFailureText({ reason, message }: FetchFailure): string {
  const cut = message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE)}…` : message
  return JSON.stringify({ reason, message: cut })
}

/** What a termination message says, or undefined for one that no agent wrote: such as that of a container killed for memory. */
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
