/** Events: one for each step of a model, when it is recorded in the status. */
import type { EventNote } from '../../../decision/plan.ts'
import { isTrue } from '../../../api/conditions.ts'
import { replicasOf } from '../observe/version.ts'
import type { ModelView } from '../observe/view.ts'
import { quantify } from '../../counted.ts'
import { rolloutEvents } from './rollout-events.ts'
import { isPodReady } from '../../pod-ready.ts'
import type { Decisions, VersionDecision } from '../decisions.ts'
import type { PlannedServingStatus } from '../serving-plan.ts'

const normal = (reason: string, action: string, note: string): EventNote => ({ type: 'Normal', reason, action, note })
const warning = (reason: string, action: string, note: string): EventNote => ({ type: 'Warning', reason, action, note })

export function eventsOf(view: ModelView, decisions: Decisions, status: PlannedServingStatus): EventNote[] {
  const ofVersions = decisions.versions.flatMap((one) => versionEvents(view, one))
  return [
    ...ofVersions,
    ...trafficEvents(view, status),
    ...rolloutEvents(view, decisions),
    ...phaseEvents(view, decisions, status, ofVersions),
  ]
}

const NEXT = 'it gets traffic when a pod is ready'

function versionEvents(view: ModelView, one: VersionDecision): EventNote[] {
  const { version, trouble, isWritten } = one
  const { name, recorded } = version
  const created = isWritten && !version.deployment
  return [
    ...validationEvents(one),
    ...(created
      ? [normal('VersionCreated', 'Deploy', `${name}: created Deployment ${version.deploymentName}; ${NEXT}`)]
      : []),
    ...(trouble && recorded?.reason !== trouble.reason
      ? [warning(trouble.reason, 'Serve', `${name}: ${trouble.message}`)]
      : []),
    ...surgeEvents(one),
    ...evictionEvents(one),
    ...scalingEvents(one),
    ...retirementEvents(view, one),
  ]
}

function validationEvents({ version: { name, recorded }, validation }: VersionDecision): EventNote[] {
  if (!validation) return []
  const { outcome, job, jobName, digest, isCarriedOver } = validation
  const isNew = job ? recorded?.reason !== 'Validating' : recorded?.reason === undefined
  if (outcome === 'running' && isNew)
    return [
      normal(
        'ValidationStarted',
        'Validate',
        `Validating ${name} with Job ${jobName}; ${name} is rolled out after it passes`,
      ),
    ]
  if (outcome === 'passed' && recorded?.validated !== digest && !isCarriedOver)
    return [normal('ValidationSucceeded', 'Validate', `${name} passed its validation; ${NEXT}`)]
  return []
}

/** Replacing the only pod interrupts the version. */
function surgeEvents({ version, surge: { record } }: VersionDecision): EventNote[] {
  if (!record || record.maxSurge > 0 || version.recorded?.rollingUpdate?.template === record.template) return []
  const event = normal('RollingOutWithoutSurge', 'Deploy', record.message)
  return [replicasOf(version) === 1 ? { ...event, type: 'Warning' } : event]
}

function evictionEvents({ version: { name }, replacement: { evicted } }: VersionDecision): EventNote[] {
  if (!evicted) return []
  const next = 'its Deployment replaces it'
  return [warning('PodEvicted', 'Evict', `${name}: evicted pod ${evicted.pod}: ${evicted.message}; ${next}`)]
}

function scalingEvents({ version: { name, recorded }, byRequests }: VersionDecision): EventNote[] {
  const from = recorded?.autoscaling?.replicas
  const to = byRequests?.record?.replicas
  if (from === undefined || to === undefined || from === to) return []
  return [normal('Rescaled', 'Scale', `${name}: ${from} → ${quantify(to, 'pod')}, by its requests`)]
}

function retirementEvents(
  { drainMs }: ModelView,
  { version: { name, recorded }, retirement }: VersionDecision,
): EventNote[] {
  if (retirement.isOver && recorded)
    return [normal('VersionRemoved', 'Remove', `Removed ${name}: it is no longer in the spec and gets no traffic`)]
  if (retirement.idleSince !== undefined && recorded?.idleSince === undefined)
    return [
      normal('VersionIdle', 'Drain', `Draining ${name}: it gets no traffic, and is removed in ${drainMs / 1000} s`),
    ]
  return []
}

function trafficEvents(view: ModelView, { activeVersions = [], traffic }: PlannedServingStatus): EventNote[] {
  const { recorded, recordedWeights: before, providers } = view
  const shifts = activeVersions.filter(({ name, weight = 0 }) => weight !== (before.get(name) ?? 0))
  const shift = shifts.map(({ name, weight = 0 }) => `${name} ${before.get(name) ?? 0} → ${weight} %`).join(', ')
  const from = recorded.traffic?.provider
  const isSwitched = from !== undefined && traffic && traffic.provider !== from
  // Where pod counts split the traffic, every pod that starts or ends shifts it: that is no step of the model.
  const isStep = shifts.length > 0 && !(traffic && providers.of(traffic.provider).splitPods)
  return [
    ...(isStep ? [normal('TrafficShifted', 'Route', `Shifted traffic: ${shift}`)] : []),
    ...(isSwitched ? [normal('TrafficSwitched', 'Route', `Switched traffic from ${from} to ${traffic.provider}`)] : []),
  ]
}

/** One event for each cause: the trouble of a version is reported by that version's event alone. */
function phaseEvents(
  { recorded }: ModelView,
  decisions: Decisions,
  status: PlannedServingStatus,
  ofVersions: readonly EventNote[],
): EventNote[] {
  const was = isTrue(recorded.conditions, 'Ready')
  const is = isReadyNow(status)
  if (is && !was)
    return isRestarted(decisions) ? [] : [normal('ModelReady', 'Serve', `The model is served at ${status.url}`)]
  const isExplained = ofVersions.some(({ type }) => type === 'Warning')
  return status.phase === recorded.phase || isExplained ? [] : declineEvents(decisions, status, was && !is)
}

function declineEvents(
  decisions: Decisions,
  { phase, message = '' }: PlannedServingStatus,
  isLost: boolean,
): EventNote[] {
  if (phase === 'Degraded') return isTroubled(decisions) ? [] : [warning('ModelDegraded', 'Serve', message)]
  if (phase === 'Failed') return [warning('ModelFailed', 'Serve', message)]
  return isLost ? [warning('ModelUnavailable', 'Serve', message)] : []
}

const isReadyNow = ({ conditions = [] }: PlannedServingStatus): boolean =>
  conditions.some(({ type, status }) => type === 'Ready' && status === 'True')

const isTroubled = ({ versions }: Decisions): boolean => versions.some(({ trouble }) => trouble)

/** A server that recovers from a crash gets no event: the crash had one, and may have another. */
function isRestarted({ versions }: Decisions): boolean {
  const pods = versions.flatMap(({ version }) => version.pods).filter(isPodReady)
  return pods.some(({ status }) => status?.containerStatuses?.some(({ restartCount }) => restartCount > 0))
}
