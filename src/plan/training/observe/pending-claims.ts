/**
 * Claims that stay Pending, and why. A claim is usually bound within seconds. If not, the events of its provisioner tell the
 * cause. The scheduler may wait for minutes without a message: it has selected a node, and the provisioner fails.
 */
import type { PersistentVolumeClaim, Pod } from '../../../kube/resources.ts'
import { millis } from '../../time.ts'
import { claimName } from '../names.ts'
import type { TrainingObserved } from './observed.ts'

/** How long a claim may be Pending before it is reported. */
const PATIENCE_MS = 10_000
/** Events are not watched: while a claim stays Pending, they are read again at this interval. */
const RECHECK_MS = 20_000

/** The scheduler has selected a node for a pod that mounts the claim, and waits for the volume. */
const SELECTED_NODE = 'volume.kubernetes.io/selected-node'

type Claims = Pick<TrainingObserved, 'claims' | 'pods' | 'checkpointPods' | 'now'>

const waitingPods = ({ pods, checkpointPods = [] }: Claims): Pod[] => [...pods, ...checkpointPods].filter(hasNoNode)

/** Claims whose events are to be read: Pending for some time, with pods that wait for a node. */
export function stuckClaims(observed: Claims): PersistentVolumeClaim[] {
  return pendingClaims(observed).filter((claim) => waitedFor(observed, claim) >= PATIENCE_MS)
}

/** When to look at the claims again; undefined if no pod waits for one. */
export function untilRecheck(observed: Claims): number | undefined {
  const waits = pendingClaims(observed).map((claim) => PATIENCE_MS - waitedFor(observed, claim))
  return waits.length === 0 ? undefined : Math.min(...waits.map((wait) => (wait > 0 ? wait : RECHECK_MS)))
}

function pendingClaims(observed: Claims): PersistentVolumeClaim[] {
  if (waitingPods(observed).length === 0) return []
  return observed.claims.filter(({ status }) => status?.phase === 'Pending')
}

/** A claim may be older than the job. It is only then that its pods can wait for it. */
function waitedFor(observed: Claims, { metadata }: PersistentVolumeClaim): number {
  const created = waitingPods(observed).map((pod) => millis(pod.metadata.creationTimestamp) ?? 0)
  return observed.now - Math.max(millis(metadata.creationTimestamp) ?? 0, Math.min(...created))
}

const hasNoNode = ({ metadata, spec, status }: Pod): boolean =>
  (status?.phase ?? 'Pending') === 'Pending' && !spec?.nodeName && metadata.deletionTimestamp === undefined

/** Claims that pods wait for although the scheduler has no complaint. */
export function unprovisionedClaims(observed: TrainingObserved): PersistentVolumeClaim[] {
  return stuckClaims(observed).filter(
    ({ metadata }) =>
      metadata.annotations?.[SELECTED_NODE] !== undefined || observed.claimEvents?.has(metadata.name) === true,
  )
}

/** `PersistentVolumeClaim bert-checkpoints is not bound: ProvisioningFailed: …; what to change` */
export function describeClaim(observed: TrainingObserved, { metadata, spec }: PersistentVolumeClaim): string {
  const { storageClassName, accessModes = [] } = spec ?? {}
  const event = observed.claimEvents?.get(metadata.name)
  const about = `PersistentVolumeClaim ${metadata.name} is not bound`
  if (event !== undefined) {
    const requested = `${accessModes.join(', ')} of ${storageClassName ? `StorageClass ${storageClassName}` : 'no StorageClass'}`
    const fix =
      metadata.name === claimName(observed.job)
        ? '; to change this, edit checkpoint.storage, then delete the claim, which is created again'
        : ''
    return `${about}: ${event} (requested: ${requested}${fix})`
  }
  if (!storageClassName) return `${about}: it has no StorageClass; set one, or mark one as the default`
  return `${about}: check that StorageClass ${storageClassName} exists and can provision it`
}
