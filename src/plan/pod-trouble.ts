/** Why a pod does not run, in messages that a person can act on. For pods of all kinds. */
import type { Pod } from '../kube/resources.ts'

export interface Trouble {
  /** One CamelCase word. */
  readonly reason: string
  readonly message: string
  /** It may resolve without a person, for example when a node becomes free. */
  readonly isWaiting?: boolean
}

interface Waiting {
  readonly reason?: string
  readonly message?: string
}

const IMAGE_TROUBLE = /^(ErrImage|ImagePull|InvalidImageName|ErrImageNeverPull|RegistryUnavailable|ImageInspectError)/
const CONFIG_TROUBLE = /^(CreateContainer|RunContainerError|CrashLoopBackOff)/

/** Why a container cannot start; undefined while it starts normally. `fields`: those that name images of the pod. */
export function containerTrouble(
  podName: string,
  waiting: Waiting | undefined,
  fields: readonly string[] = ['image'],
): Trouble | undefined {
  const { reason = '', message = '' } = waiting ?? {}
  if (IMAGE_TROUBLE.test(reason)) {
    const text = `${podName}: ${reason}: ${message}; ${pullAdvice(message, fields)}`
    return { reason: 'ImagePullFailed', message: text }
  }
  return CONFIG_TROUBLE.test(reason) ? { reason, message: `${podName}: ${message}` } : undefined
}

/** An image of the host `localhost` is in no registry. */
function pullAdvice(message: string, fields: readonly string[]): string {
  const local = /\blocalhost\/[-\w./:]*\w/.exec(message)?.[0]
  if (local === undefined) return `check ${[...fields, 'imagePullSecrets'].join(' and ')}`
  return `${local} is not in a registry: load it on every node, or set ${fields.join(' or ')} to an image that the nodes can pull`
}

/** The message of the scheduler for a pod that it finds no node for; undefined for other pods. */
export function unschedulable({ status }: Pod): string | undefined {
  const condition = status?.conditions?.find(({ type }) => type === 'PodScheduled')
  return condition?.status === 'False' && condition.reason === 'Unschedulable' ? (condition.message ?? '') : undefined
}

/** The reason in the message of the scheduler. */
export function shortageOf(message: string, gpuResource: string): string {
  if (message.includes(`Insufficient ${gpuResource}`)) return 'InsufficientGPU'
  return SHORTAGES.find(([pattern]) => pattern.test(message))?.[1] ?? 'Unschedulable'
}

const SHORTAGES: readonly [RegExp, string][] = [
  [/persistentvolumeclaim|PersistentVolume/i, 'VolumeNotBound'],
  [/Insufficient /, 'InsufficientResources'],
  [/node affinity|node selector|didn't match|untolerated taint/i, 'NoMatchingNode'],
]
