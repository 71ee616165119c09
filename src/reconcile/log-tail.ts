import { keyOf } from '../kube/object.ts'
import { CONTAINER } from '../plan/training/index.ts'
import type { ReconcileContext } from '../runtime/index.ts'
import type { ReadLog } from './gather-training.ts'

const LINES = 10
const BYTES = 4_096
/** Short, because the restart of the job waits for it. */
const TIMEOUT_MS = 2_000

/** Reads the last log lines of a worker. Undefined if the node is gone, or the permission to read logs is missing. */
export function readLogTail({ client, signal, log }: Pick<ReconcileContext, 'client' | 'signal' | 'log'>): ReadLog {
  return async (pod) => {
    const options = { container: CONTAINER, tailLines: LINES, limitBytes: BYTES, timeoutMs: TIMEOUT_MS, signal }
    try {
      const tail = (await client.logs(keyOf(pod), options)).trimEnd()
      return tail === '' ? undefined : tail
    } catch (error) {
      signal.throwIfAborted()
      log.debug({ err: error, pod: pod.metadata.name }, 'cannot read the log of a failed worker')
      return undefined
    }
  }
}
