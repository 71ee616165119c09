/**
 * The utilization of GPUs in the status. It changes all the time, so it is written together with other changes, and alone only
 * if it changes much.
 */
import type { TrainingObserved } from '../observe/observed.ts'
import type { PlannedStatus } from './status.ts'

/** In percentage points. */
const MUCH = 10

type Worker = NonNullable<PlannedStatus['workerStatuses']>[number]

/** Addresses of the nodes whose GPUs the workers use. */
export function gpuNodeAddresses({ job, pods }: TrainingObserved): string[] {
  if (job.status?.state !== 'Running' || job.spec.gpusPerWorker === 0) return []
  return [...new Set(pods.flatMap(({ status }) => (status?.phase === 'Running' ? (status.hostIP ?? []) : [])))]
}

/** `hasChanged`: whether a status differs from the recorded one. */
export function withGpuUtilization(
  { job, gpuUtilization }: TrainingObserved,
  status: PlannedStatus,
  hasChanged: (status: PlannedStatus) => boolean,
): PlannedStatus {
  const { resources, workerStatuses = [] } = job.status ?? {}
  const known = resources?.gpuUtilization
  const usage = status.state === 'Running' ? gpuUtilization : undefined
  const now = averageOf(status.workerStatuses ?? [], usage ?? new Map())
  if (known === undefined && now === undefined) return status
  const recorded = new Map(workerStatuses.map((one) => [one.podName, one.gpuUtilization]))
  const kept = filled(status, known, (podName) => recorded.get(podName))
  return isMuch(known, now) || hasChanged(kept) ? filled(status, now, (podName) => usage?.get(podName)) : kept
}

const isMuch = (known: number | undefined, now: number | undefined): boolean =>
  known === undefined || now === undefined || Math.abs(now - known) >= MUCH

function filled(
  status: PlannedStatus,
  average: number | undefined,
  usageOf: (podName: string) => number | undefined,
): PlannedStatus {
  const { gpuUtilization: _old, ...held } = status.resources ?? {}
  const withUsage = (worker: Worker): Worker => {
    const own = usageOf(worker.podName ?? '')
    return { ...worker, ...(own !== undefined && { gpuUtilization: Math.round(own) }) }
  }
  return {
    ...status,
    resources: { ...held, ...(average !== undefined && { gpuUtilization: average }) },
    ...(status.workerStatuses && { workerStatuses: status.workerStatuses.map(withUsage) }),
  }
}

function averageOf(workers: readonly Worker[], usage: ReadonlyMap<string, number>): number | undefined {
  const values = workers.flatMap(({ podName = '' }) => usage.get(podName) ?? [])
  return values.length === 0 ? undefined : rounded(values.reduce((sum, one) => sum + one, 0) / values.length)
}

const rounded = (percent: number): number => Math.round(percent * 10) / 10
