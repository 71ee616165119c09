/** What keeps a version from being ready, and what to do about it: the first cause that a person can act on. */
import { isOrAre, portion } from '../../counted.ts'
import { parseFetchFailure } from '../../../api/fetch-failure.ts'
import type { HorizontalPodAutoscaler, Pod } from '../../../kube/resources.ts'
import { containerTrouble, shortageOf, type Trouble, unschedulable } from '../../pod-trouble.ts'
import { isPodReady } from '../../pod-ready.ts'
import { withAdvice } from '../../missing-reference.ts'
import { quotaTrouble } from '../../quota.ts'
import { hasDroppedImageVolume, modelImage, unsupportedImageVolumes } from '../objects/image-volume.ts'
import { FETCH_CONTAINER } from '../objects/model-source.ts'
import { SERVER_CONTAINER } from '../objects/pod-template.ts'
import type { ServedVersion } from '../observe/served-model.ts'
import type { ModelView } from '../observe/view.ts'
import { availableOf, isRolling, isWanted, replicasOf, type Version } from '../observe/version.ts'
import { surgeOf } from '../steps/surge.ts'

/** Undefined while the version only needs time. */
export function troubleOf(view: ModelView, version: Version): Trouble | undefined {
  const waiting = version.pods.filter((pod) => !isPodReady(pod))
  const first = (find: (pod: Pod) => Trouble | undefined): Trouble | undefined => {
    for (const pod of waiting) {
      const found = find(pod)
      if (found) return found
    }
    return undefined
  }
  return (
    droppedModel(version) ??
    first(fetchTrouble) ??
    first((pod) => imageTrouble(pod, version.wanted)) ??
    first(crash) ??
    first(otherCrash) ??
    rejectedPods(version) ??
    first((pod) => unscheduledPod(view, version, pod)) ??
    overdueRollout(version)
  )
}

/** Pods of before the change keep serving: the Deployment is paused. */
function droppedModel({ wanted, deployment }: Version): Trouble | undefined {
  if (!wanted || !hasDroppedImageVolume(wanted, deployment)) return undefined
  return unsupportedImageVolumes(wanted, ' and restart the operator')
}

type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number]

/** How a container terminated last, in this run or in the one before. */
function lastEnd({ state, lastState }: ContainerStatus) {
  return state?.terminated ?? lastState?.terminated
}

/** The agent reports why a model could not be fetched. */
export function fetchTrouble({ metadata, status }: Pod): Trouble | undefined {
  const fetch = status?.initContainerStatuses?.find(({ name }) => name === FETCH_CONTAINER)
  const end = fetch && lastEnd(fetch)
  if (!end || end.exitCode === 0) return undefined
  const failure = parseFetchFailure(end.message)
  if (failure) return { reason: failure.reason, message: `${metadata.name}: ${failure.message}` }
  const how = `exit code ${end.exitCode}${end.reason === undefined ? '' : ` (${end.reason})`}`
  const where = `kubectl logs ${metadata.name} -c ${FETCH_CONTAINER}`
  return { reason: 'FetchFailed', message: `${metadata.name}: the model could not be fetched: ${how}; see ${where}` }
}

export function imageTrouble({ metadata, status }: Pod, version: ServedVersion | undefined): Trouble | undefined {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
  const fields = version && modelImage(version) ? ['modelPath', 'image'] : ['image']
  for (const { state } of all) {
    const trouble = containerTrouble(metadata.name, state?.waiting, fields)
    if (trouble && trouble.reason !== CRASHING) return trouble
  }
  return undefined
}

const CRASHING = 'CrashLoopBackOff'

function crash({ metadata, status }: Pod): Trouble | undefined {
  const server = status?.containerStatuses?.find(({ name }) => name === SERVER_CONTAINER)
  const end = server && lastEnd(server)
  if (!server || !end || server.restartCount === 0) return undefined
  const { name, namespace = 'default' } = metadata
  const how = `terminated with exit code ${end.exitCode}${end.reason === undefined ? '' : ` (${end.reason})`}`
  const again = `${name}: the server ${how} and is restarting`
  if (end.reason === 'OOMKilled') {
    return { reason: 'OutOfMemory', message: `${again}: raise resources.limits.memory` }
  }
  const output = tailOf(end, 1)
  const quoted = output === '' ? '' : `; last output: ${output}`
  return { reason: CRASHING, message: `${again}: see kubectl logs -n ${namespace} ${name} --previous${quoted}` }
}

/** A container of the pod template keeps the pod from being ready, or the server from starting. */
function otherCrash({ metadata, status }: Pod): Trouble | undefined {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
  const other = all.find(({ name, state }) => !OWN.has(name) && state?.waiting?.reason === CRASHING)
  if (!other) return undefined
  const { name, namespace = 'default' } = metadata
  const end = lastEnd(other)
  const how = end === undefined ? 'cannot run' : `terminated with exit code ${end.exitCode}`
  const logs = `kubectl logs -n ${namespace} ${name} -c ${other.name} --previous`
  return {
    reason: CRASHING,
    message: `${name}: the container ${other.name} of podTemplate ${how} and is restarting: see ${logs}`,
  }
}

const OWN: ReadonlySet<string> = new Set([SERVER_CONTAINER, FETCH_CONTAINER])

/** The API server rejects the pods: mostly because of a quota. */
function rejectedPods({ deployment }: Version): Trouble | undefined {
  const rejected = deployment?.status?.conditions?.find(
    ({ type, status }) => type === 'ReplicaFailure' && status === 'True',
  )
  if (!rejected) return undefined
  const { message = '' } = rejected
  return quotaTrouble(message) ?? { reason: 'PodsRefused', message: `pods cannot be created: ${withAdvice(message)}` }
}

function unscheduledPod(view: ModelView, version: Version, pod: Pod): Trouble | undefined {
  const reported = unschedulable(pod)
  if (reported === undefined) return undefined
  const reason = shortageOf(reported, view.observed.config.gpuResource)
  const isInPlace = isWanted(version) && isRolling(version) && surgeOf(view, version).maxSurge === 0
  const inPlace = isInPlace ? '; there is no spare GPU, so new pods replace old ones one at a time' : ''
  return { reason, message: `${pod.metadata.name} is unschedulable: ${reported}${inPlace}`, isWaiting: true }
}

function overdueRollout(version: Version): Trouble | undefined {
  const late = version.deployment?.status?.conditions?.find(
    ({ type, reason }) => type === 'Progressing' && reason === 'ProgressDeadlineExceeded',
  )
  if (!late || availableOf(version) >= replicasOf(version)) return undefined
  const ready = `${portion(availableOf(version), replicasOf(version), 'pod')} ${isOrAre(replicasOf(version))} ready`
  return {
    reason: 'ProbeFailing',
    message: `${ready} after ten minutes: the readiness probe fails; see kubectl describe pod`,
  }
}

/** The last output of a container that failed. */
export function lastOutput({ status }: Pod, container: string): string | undefined {
  const found = status?.containerStatuses?.find(({ name }) => name === container)
  const end = found && lastEnd(found)
  if (!end || end.exitCode === 0) return undefined
  const output = tailOf(end, MAX_LINES)
  return output === '' ? `exit code ${end.exitCode}` : `exit code ${end.exitCode}: ${output}`
}

/** The last line of the message that a container has left. */
export function lastWords({ status }: Pod, container: string): string {
  const found = status?.containerStatuses?.find(({ name }) => name === container)
  return tailOf((found && lastEnd(found)) ?? {}, 1)
}

const MAX_LINES = 5
const MAX_OUTPUT = 400

function tailOf({ message = '' }: { readonly message?: string }, lines: number): string {
  return message.trim().split('\n').slice(-lines).join(' | ').slice(-MAX_OUTPUT)
}

/** Why an autoscaler does not scale, from its conditions: mostly because metrics are missing. */
export function autoscalerTrouble(
  { name, autoscalerName }: Version,
  autoscalers: readonly HorizontalPodAutoscaler[],
): string | undefined {
  const own = autoscalers.find(({ metadata }) => metadata.name === autoscalerName)
  const inactive = own?.status?.conditions?.find(
    ({ type, status }) => status === 'False' && (type === 'AbleToScale' || type === 'ScalingActive'),
  )
  if (!inactive) return undefined
  const { reason = inactive.type, message = '' } = inactive
  return `${name}: the autoscaler ${autoscalerName} does not scale: ${reason}: ${message}`
}
