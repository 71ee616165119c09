/** Events: one for each step of a model, when it is put on record. What happened – why – what comes next. */
import type { ServingStatus } from '../../api/modeldeployment-parts.ts'
import type { EventNote } from '../plan.ts'
import type { Scene } from './scene.ts'
import type { State, VersionState } from './state.ts'
import type { PlannedServingStatus } from './status.ts'

const normal = (reason: string, action: string, note: string): EventNote => ({ type: 'Normal', reason, action, note })
const warning = (reason: string, action: string, note: string): EventNote => ({ type: 'Warning', reason, action, note })

export function eventsOf(scene: Scene, state: State, status: PlannedServingStatus): EventNote[] {
  return [
    ...state.versions.flatMap((one) => versionEvents(scene, one)),
    ...trafficEvents(scene.known, status),
    ...phaseEvents(scene.known, status),
  ]
}

const NEXT = 'it gets traffic when a pod is ready'

function versionEvents(scene: Scene, one: VersionState): EventNote[] {
  const { version, trouble, isWritten } = one
  const { name, known } = version
  const created = isWritten && !version.deployment
  return [
    ...validationEvents(one),
    ...(created
      ? [normal('VersionCreated', 'Deploy', `${name}: created Deployment ${version.deploymentName}; ${NEXT}`)]
      : []),
    ...(trouble && known?.reason !== trouble.reason
      ? [warning(trouble.reason, 'Serve', `${name}: ${trouble.message}`)]
      : []),
    ...retirementEvents(scene, one),
  ]
}

function validationEvents({ version: { name, known }, validation }: VersionState): EventNote[] {
  if (validation?.outcome === 'running' && known?.reason !== 'Validating')
    return [normal('ValidationStarted', 'Validate', `${name}: Job ${validation.jobName} runs; ${name} waits for it`)]
  if (validation?.outcome === 'passed' && known?.validated !== validation.digest)
    return [normal('ValidationSucceeded', 'Validate', `${name} has passed its validation; ${NEXT}`)]
  return []
}

function retirementEvents({ drainMs }: Scene, { version: { name, known }, retirement }: VersionState): EventNote[] {
  if (retirement.isOver && known)
    return [normal('VersionRemoved', 'Remove', `${name} is no longer in the spec and gets no traffic: removed`)]
  if (retirement.idleSince !== undefined && known?.idleSince === undefined)
    return [normal('VersionIdle', 'Drain', `${name} gets no traffic any more and goes in ${drainMs / 1000} s`)]
  return []
}

function trafficEvents(known: ServingStatus, { activeVersions = [], traffic }: PlannedServingStatus): EventNote[] {
  const before = new Map(known.activeVersions?.map(({ name, weight = 0 }) => [name, weight]))
  const shifts = activeVersions.filter(({ name, weight = 0 }) => weight !== (before.get(name) ?? 0))
  const shift = shifts.map(({ name, weight = 0 }) => `${name} ${before.get(name) ?? 0} → ${weight} %`).join(', ')
  const from = known.traffic?.provider
  const isTurned = from !== undefined && traffic && traffic.provider !== from
  return [
    // Where pods divide traffic by their number, every pod that comes or goes shifts it: that is no step of the model.
    ...(shifts.length > 0 && traffic?.provider !== 'replicas'
      ? [normal('TrafficShifted', 'Route', `Traffic: ${shift}`)]
      : []),
    ...(isTurned
      ? [
          normal(
            'TrafficSwitched',
            'Route',
            `${traffic.provider} is in effect: the Service is turned to it from ${from}`,
          ),
        ]
      : []),
  ]
}

function phaseEvents(known: ServingStatus, { phase, message = '', url = '' }: PlannedServingStatus): EventNote[] {
  if (phase === known.phase) return []
  if (phase === 'Running') return [normal('ModelReady', 'Serve', `The model answers at ${url}`)]
  if (phase === 'Degraded') return [warning('ModelDegraded', 'Serve', message)]
  if (phase === 'Failed') return [warning('ModelFailed', 'Serve', message)]
  const hasServed = known.phase === 'Running' || known.phase === 'Degraded'
  return hasServed ? [warning('ModelUnavailable', 'Serve', message)] : []
}
