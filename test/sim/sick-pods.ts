/** A version with pods of any health, the eviction of which a Deployment answers with new pods. For tables and random histories. */
import type { EndpointSlice, Pod } from '../../src/kube/resources.ts'
import { serverLabels } from '../../src/plan/model-names.ts'
import type { PodHealth } from '../../src/plan/serving/observe/pod-health.ts'
import type { PlannedServingStatus, ServingObserved } from '../../src/plan/serving/index.ts'
import { at, NOW, observedOf, type Seen } from './model-view.ts'
import { MODEL_UID } from './serving-cluster.ts'

export interface PodSeen {
  readonly name: string
  readonly isReady?: boolean
  /** Seconds from `NOW` since when it is not ready. */
  readonly unreadySince?: number
  readonly restarts?: number
  /** Failed checks in a row. Absent: nothing is known of it. */
  readonly failures?: number
  readonly misses?: number
  readonly hasPassed?: boolean
  readonly isTerminating?: boolean
  readonly version?: string
}

export function podOf(seen: PodSeen): Pod {
  const { name, isReady = true, unreadySince = 0, restarts = 0, version = 'v1' } = seen
  const owner = { metadata: { name: 'iris', uid: MODEL_UID } }
  const lastState = restarts === 0 ? {} : { terminated: { exitCode: 1, finishedAt: at(0) } }
  const ready = { type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: at(unreadySince) }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      uid: `uid-${name}`,
      labels: serverLabels(owner, version),
      ...(seen.isTerminating && { deletionTimestamp: at(0) }),
    },
    status: {
      phase: 'Running',
      conditions: [ready],
      containerStatuses: [
        {
          name: 'server',
          ready: isReady,
          restartCount: restarts,
          state: { running: { startedAt: at(-900) } },
          lastState,
        },
      ],
    },
  } as unknown as Pod
}

function healthOf({ failures, misses = 0, hasPassed = true }: PodSeen): PodHealth | undefined {
  if (failures === undefined) return undefined
  const answer = failures > 0 ? { answer: 'answered HTTP 500' } : {}
  return { path: '/health', failures, misses, hasPassed, ...answer }
}

export interface SickSeen extends Partial<Seen> {
  readonly pods: readonly PodSeen[]
  /** Seconds from `NOW`. */
  readonly now?: number
  /** `spec.replicas` of the Deployment. Default: the number of pods. */
  readonly replicas?: number
  /** The entry of v1 in the status. */
  readonly recorded?: object
}

const ENDPOINTS = { endpoints: [{ addresses: [], conditions: { ready: true } }] } as unknown as EndpointSlice

/** What the planner sees of a model with one version, v1, that serves. */
export function sickObserved({
  pods,
  now = 0,
  replicas = pods.length,
  recorded = {},
  ...rest
}: SickSeen): ServingObserved {
  const available = pods.filter(({ isReady = true, isTerminating = false }) => isReady && !isTerminating).length
  const scaling = { minReplicas: replicas, maxReplicas: replicas }
  const v1 = { weight: 100, replicas, available, scaling, recorded: { hasBeenReady: true, ...recorded } }
  const observed = observedOf({ versions: { v1 }, ...rest })
  const health = pods.flatMap((seen) => {
    const found = healthOf(seen)
    return found ? [[`uid-${seen.name}`, found] as const] : []
  })
  return {
    ...observed,
    now: NOW + now * 1000,
    pods: pods.map(podOf),
    endpoints: available > 0 ? [ENDPOINTS] : [],
    health: new Map(health),
  }
}

export const storing = (observed: ServingObserved, status: PlannedServingStatus | undefined): ServingObserved =>
  ({ ...observed, model: { ...observed.model, status } }) as ServingObserved
