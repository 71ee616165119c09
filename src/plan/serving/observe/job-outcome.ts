/** What a Job that judges has found, and what keeps it from starting. */
import type { Job, Pod } from '../../../kube/resources.ts'
import { shortageOf, type Trouble, unschedulable } from '../../pod-trouble.ts'
import { fetchTrouble, imageTrouble, lastOutput } from '../report/trouble.ts'
import type { ServedVersion } from './served-model.ts'
import type { ModelView } from './view.ts'

export function verdictOf({ status }: Job): 'passed' | 'failed' | undefined {
  const has = (wanted: string): boolean =>
    status?.conditions?.some(({ type, status: is }) => type === wanted && is === 'True') ?? false
  if (has('Complete')) return 'passed'
  return has('Failed') ? 'failed' : undefined
}

export const jobPods = ({ observed }: ModelView, job: Job): Pod[] =>
  observed.pods.filter(({ metadata }) => metadata.labels?.['job-name'] === job.metadata.name)

/** `exit code 3: accuracy is 0.8`, or what the Job says. */
export function whyFailed(view: ModelView, job: Job, container: string): string {
  const output = jobPods(view, job)
    .map((pod) => lastOutput(pod, container))
    .find((text) => text !== undefined)
  const failed = job.status?.conditions?.find(({ type }) => type === 'Failed')
  return output ?? `${failed?.reason ?? 'Failed'}: ${failed?.message ?? 'the Job failed'}`
}

/** What keeps it from starting. The Job retries until its deadline. */
export function obstacleOf(
  view: ModelView,
  job: Job,
  container: string,
  version: ServedVersion | undefined,
): Trouble | undefined {
  const pods = jobPods(view, job)
  if (pods.some((pod) => hasStarted(pod, container))) return undefined
  for (const pod of pods) {
    const trouble = fetchTrouble(pod) ?? imageTrouble(pod, version) ?? unscheduled(view, pod)
    if (trouble) return { ...trouble, isWaiting: true }
  }
  return undefined
}

function hasStarted({ status }: Pod, container: string): boolean {
  const found = status?.containerStatuses?.find(({ name }) => name === container)
  return found?.state?.running !== undefined || found?.state?.terminated?.exitCode === 0
}

function unscheduled({ observed: { config } }: ModelView, pod: Pod): Trouble | undefined {
  const message = unschedulable(pod)
  if (message === undefined) return undefined
  return {
    reason: shortageOf(message, config.gpuResource),
    message: `${pod.metadata.name} is unschedulable: ${message}`,
  }
}
