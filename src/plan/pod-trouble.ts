/** What keeps a pod from running, in words that people can act on: for pods of every kind. */
import type { Pod } from '../kube/resources.ts'

export interface Trouble {
  /** One CamelCase word. */
  readonly reason: string
  readonly message: string
}

interface Waiting {
  readonly reason?: string
  readonly message?: string
}

const IMAGE_TROUBLE = /^(ErrImage|ImagePull|InvalidImageName|ErrImageNeverPull|RegistryUnavailable|ImageInspectError)/
const CONFIG_TROUBLE = /^(CreateContainer|RunContainerError|CrashLoopBackOff)/

/** What a container waits for, if that is more than its turn. */
export function containerTrouble(podName: string, waiting: Waiting | undefined): Trouble | undefined {
  const { reason = '', message = '' } = waiting ?? {}
  if (IMAGE_TROUBLE.test(reason)) {
    const advice = `${podName}: ${reason}: ${message}; check image and imagePullSecrets`
    return { reason: 'ImagePullFailed', message: advice }
  }
  return CONFIG_TROUBLE.test(reason) ? { reason, message: `${podName}: ${message}` } : undefined
}

/** What the scheduler says of a pod that it finds no node for. */
export function unschedulable({ status }: Pod): string | undefined {
  const condition = status?.conditions?.find(({ type }) => type === 'PodScheduled')
  return condition?.status === 'False' && condition.reason === 'Unschedulable' ? (condition.message ?? '') : undefined
}

/** The reason behind the scheduler's words. */
export function shortageOf(said: string, gpuResource: string): string {
  if (said.includes(`Insufficient ${gpuResource}`)) return 'InsufficientGPU'
  return SHORTAGES.find(([pattern]) => pattern.test(said))?.[1] ?? 'Unschedulable'
}

const SHORTAGES: readonly [RegExp, string][] = [
  [/persistentvolumeclaim|PersistentVolume/i, 'VolumeNotBound'],
  [/Insufficient /, 'InsufficientResources'],
  [/node affinity|node selector|didn't match/i, 'NoMatchingNode'],
]
