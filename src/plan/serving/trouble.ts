/** What keeps a version from being ready, and what to do about it: the first thing that somebody could see to. */
import { parseFetchFailure } from '../../api/fetch-failure.ts'
import type { Pod } from '../../kube/resources.ts'
import { containerTrouble, shortageOf, type Trouble, unschedulable } from '../pod-trouble.ts'
import { rollsInPlace } from './deployment.ts'
import { FETCH_CONTAINER } from './model-source.ts'
import { SERVER_CONTAINER } from './pod-template.ts'
import type { Scene } from './scene.ts'
import { availableOf, replicasOf, type Version } from './version.ts'

/** Nothing while all that is needed is time. */
export function troubleOf(scene: Scene, version: Version): Trouble | undefined {
  const waiting = version.pods.filter((pod) => !isPodReady(pod))
  const first = (find: (pod: Pod) => Trouble | undefined): Trouble | undefined => {
    for (const pod of waiting) {
      const found = find(pod)
      if (found) return found
    }
    return undefined
  }
  return (
    first(fetchTrouble) ??
    first(imageTrouble) ??
    first(crash) ??
    refusedPods(version) ??
    first((pod) => noNode(scene, version, pod)) ??
    overdue(version)
  )
}

export function isPodReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false
}

type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number]

/** How a container ended last, be it this time or the time before. */
function lastEnd({ state, lastState }: ContainerStatus) {
  return state?.terminated ?? lastState?.terminated
}

/** The agent says itself why a model could not be fetched. */
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

function imageTrouble({ metadata, status }: Pod): Trouble | undefined {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
  for (const { state } of all) {
    const trouble = containerTrouble(metadata.name, state?.waiting)
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
  const how = `ended with exit code ${end.exitCode}${end.reason === undefined ? '' : ` (${end.reason})`}`
  const again = `${name}: the server ${how} and is started again`
  if (end.reason === 'OOMKilled') {
    return { reason: 'OutOfMemory', message: `${again}: raise resources.limits.memory` }
  }
  const words = saidLast(end, 1)
  const said = words === '' ? '' : `; the last it said: ${words}`
  return { reason: CRASHING, message: `${again}: see kubectl logs -n ${namespace} ${name} --previous${said}` }
}

/** The API server would not have the pods: mostly a quota. */
function refusedPods({ deployment }: Version): Trouble | undefined {
  const refused = deployment?.status?.conditions?.find(
    ({ type, status }) => type === 'ReplicaFailure' && status === 'True',
  )
  if (!refused) return undefined
  const { message = '' } = refused
  const reason = /exceeded quota/.test(message) ? 'QuotaExceeded' : 'PodsRefused'
  return { reason, message: `pods cannot be created: ${message}` }
}

function noNode({ observed: { config } }: Scene, version: Version, pod: Pod): Trouble | undefined {
  const said = unschedulable(pod)
  if (said === undefined) return undefined
  const reason = shortageOf(said, config.gpuResource)
  const inPlace = rollsInPlace(version, config)
    ? '; there is no GPU to spare, so the new pods take the place of old ones, one at a time'
    : ''
  return { reason, message: `${pod.metadata.name} waits for a node: ${said}${inPlace}` }
}

function overdue(version: Version): Trouble | undefined {
  const late = version.deployment?.status?.conditions?.find(
    ({ type, reason }) => type === 'Progressing' && reason === 'ProgressDeadlineExceeded',
  )
  if (!late || availableOf(version) >= replicasOf(version)) return undefined
  const ready = `${availableOf(version)} of ${replicasOf(version)} pods are ready`
  return {
    reason: 'ProbeFailing',
    message: `${ready} after ten minutes: the readiness probe fails; see kubectl describe pod`,
  }
}

/** The end of what a container said before it ended. */
export function lastWords({ status }: Pod, container: string): string | undefined {
  const found = status?.containerStatuses?.find(({ name }) => name === container)
  const end = found && lastEnd(found)
  if (!end || end.exitCode === 0) return undefined
  const said = saidLast(end, MAX_LINES)
  return said === '' ? `exit code ${end.exitCode}` : `exit code ${end.exitCode}: ${said}`
}

const MAX_LINES = 5
const MAX_WORDS = 400

function saidLast({ message = '' }: { readonly message?: string }, lines: number): string {
  return message.trim().split('\n').slice(-lines).join(' | ').slice(-MAX_WORDS)
}
