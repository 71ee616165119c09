import { keyOf } from '../kube/object.ts'
import { CONTAINER } from '../plan/training/names.ts'
import type { ReconcileContext } from '../runtime/index.ts'
import type { ReadLog } from './gather-training.ts'

const LINES = 10
const BYTES = 4_096
/** A log is good to have; a job that waits for its restart is worse. */
const PATIENCE_MS = 2_000

/** Reads the last lines a worker wrote. The node may be gone and the right to read missing: then there are none. */
export function readLogTail({ client, signal, log }: Pick<ReconcileContext, 'client' | 'signal' | 'log'>): ReadLog {
  return async (pod) => {
    const options = { container: CONTAINER, tailLines: LINES, limitBytes: BYTES, timeoutMs: PATIENCE_MS, signal }
    try {
      const tail = (await client.logs(keyOf(pod), options)).trimEnd()
      return tail === '' ? undefined : tail
    } catch (error) {
      signal.throwIfAborted()
      log.debug({ err: error, pod: pod.metadata.name }, 'the log of a failed worker could not be read')
      return undefined
    }
  }
}
