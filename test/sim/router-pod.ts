/** A router pod of a simulated cluster. */
import { ROUTE_ANNOTATION, type RouteEntry, type RouterReport } from '../../src/api/router-report.ts'
import type { Pod } from '../../src/kube/resources.ts'
import { MODEL_UID_LABEL, ROLE_LABEL } from '../../src/plan/model-names.ts'

export interface RouterPod {
  pod: Pod
  /** What its HAProxy really does. */
  effect: readonly RouteEntry[]
  /** It does not answer for now. */
  mute: boolean
}

export function newRouterPod(uid: string, modelUid: string): RouterPod {
  const labels = { [MODEL_UID_LABEL]: modelUid, [ROLE_LABEL]: 'router' }
  return { pod: { apiVersion: 'v1', kind: 'Pod', metadata: { name: uid, uid, labels } }, effect: [], mute: false }
}

/** The agent has read its annotation, or begins with the initial route. */
export function follow(router: RouterPod, initial: string | undefined): void {
  const route = router.pod.metadata.annotations?.[ROUTE_ANNOTATION] ?? initial
  if (route === undefined) return
  router.effect = JSON.parse(route) as RouteEntry[]
  const status = { conditions: [{ type: 'Ready', status: 'True' }] }
  router.pod = { ...router.pod, status }
}

export function reportOf(effect: readonly RouteEntry[]): RouterReport {
  const none = { requests: 0, errors: 0, latencyMsSum: 0 }
  return { startedAt: 0, versions: effect.map(({ version: name, weight }) => ({ version: name, weight, ...none })) }
}
