import type { ObjectKey } from '../kube/object.ts'

/** What the controller reads of the utilization of GPUs. */
export interface GpuUtilization {
  /** The addresses of the nodes whose GPUs the job uses now. */
  follow(job: { readonly key: ObjectKey; readonly uid: string }, addresses: readonly string[]): void
  forget(jobUid: string): void
  /** Average of the GPUs of a pod on the node with this address, in percent. */
  of(namespace: string, pod: string, address: string | undefined): number | undefined
  /** Calls `wake` with the jobs of a node that was read. */
  onRead(wake: (key: ObjectKey) => void): void
}
