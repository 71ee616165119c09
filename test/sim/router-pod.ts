/** A router pod of a simulated cluster. */
import {
  entriesOf,
  ROUTE_ANNOTATION,
  type RouteEntry,
  type RouterReport,
  type VersionCounters,
} from '../../src/api/router-report.ts'
import type { Pod } from '../../src/kube/resources.ts'
import { MODEL_UID_LABEL, ROLE_LABEL } from '../../src/plan/model-names.ts'

export interface RouterPod {
  pod: Pod
  /** What its Envoy really does. */
  effect: readonly RouteEntry[]
  /** It does not answer for now. */
  mute: boolean
  startedAt: number
  /** By version, since it started. */
  readonly counts: Map<string, Counts>
}

type Counts = Pick<VersionCounters, 'requests' | 'errors' | 'latencyMsSum'>

/** How a version answers. */
export interface Behaviour {
  /** Of a hundred requests. */
  readonly errors: number
  readonly latencyMs: number
}

export const WELL: Behaviour = { errors: 0, latencyMs: 10 }

const NONE: Counts = { requests: 0, errors: 0, latencyMsSum: 0 }

/** A hundred requests, split by its weights. */
export function serve(router: RouterPod, behaviourOf: (version: string) => Behaviour): void {
  for (const { version: name, weight } of router.effect) {
    const { errors, latencyMs } = behaviourOf(name)
    const before = router.counts.get(name) ?? NONE
    router.counts.set(name, {
      requests: before.requests + weight,
      errors: before.errors + Math.floor((weight * errors) / 100),
      latencyMsSum: before.latencyMsSum + weight * latencyMs,
    })
  }
}

/** Its Envoy begins to count again. */
export function restart(router: RouterPod, now: number): void {
  router.counts.clear()
  router.startedAt = now
}

export function newRouterPod(uid: string, modelUid: string, startedAt: number): RouterPod {
  const labels = { [MODEL_UID_LABEL]: modelUid, [ROLE_LABEL]: 'router' }
  const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: uid, uid, labels } }
  return { pod, effect: [], mute: false, startedAt, counts: new Map() }
}

/** The agent has read its annotation, or begins with the initial route. */
export function follow(router: RouterPod, initial: string | undefined): void {
  const route = router.pod.metadata.annotations?.[ROUTE_ANNOTATION] ?? initial
  if (route === undefined) return
  router.effect = entriesOf(route)
  const status = { conditions: [{ type: 'Ready', status: 'True' }] }
  router.pod = { ...router.pod, status }
}

export function reportOf({ effect, startedAt, counts }: RouterPod): RouterReport {
  const versions = effect.map(({ version: name, weight }) => ({ version: name, weight, ...(counts.get(name) ?? NONE) }))
  return { startedAt, versions }
}
