import { keyOf } from '../kube/object.ts'
import { CONTAINER } from '../plan/training/index.ts'
import type { ReconcileContext } from '../runtime/index.ts'
import type { ReadLog } from './gather-training.ts'

export const FAILURE_LINES = 10
/** The server cuts the end of what it sends, so it may send more than is kept of the last lines. */
const SENT_BYTES = 256 * 1024
/** Kept of a log. */
const LOG_BYTES = 32 * 1024
/** Short, because the restart of the job waits for it. */
const TIMEOUT_MS = 2_000

/** Reads the last log lines of a worker. Undefined if the node is gone, or the permission to read logs is missing. */
export function readLogTail({ client, signal, log }: Pick<ReconcileContext, 'client' | 'signal' | 'log'>): ReadLog {
  return async (pod, tailLines) => {
    const options = { container: CONTAINER, tailLines, limitBytes: SENT_BYTES, timeoutMs: TIMEOUT_MS, signal }
    try {
      const tail = (await client.logs(keyOf(pod), options)).trimEnd().slice(-LOG_BYTES)
      return tail === '' ? undefined : tail
    } catch (error) {
      signal.throwIfAborted()
      log.debug({ err: error, pod: pod.metadata.name }, 'cannot read the log of a failed worker')
      return undefined
    }
  }
}

/** The last lines of a text. */
export const lastLines = (text: string, lines: number): string => text.split('\n').slice(-lines).join('\n')
