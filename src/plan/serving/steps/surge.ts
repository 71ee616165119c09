/**
 * How the pods of a version are replaced when its template changes, by the devices (mostly GPUs) that are free.
 *
 * Normally a new pod is ready before an old one ends, which needs free devices for one more pod. Without them the new pod
 * would wait for ever, so an old pod ends first. That is recorded before the new template is written, and holds until all
 * pods are replaced, whatever becomes free meanwhile. Where ending a pod frees nothing that the new one can use, the old
 * pods stay.
 *
 * Devices that are free by now can be taken before the new pod is scheduled. So the message of the scheduler still counts.
 */
import type { RollingUpdate } from '../../../api/serving-status.ts'
import { quantify } from '../../counted.ts'
import { fingerprint } from '../../fingerprint.ts'
import {
  type Demand,
  describeSupply,
  type DeviceNode,
  devicesOf,
  fittingNodes,
  heldBy,
  roomIn,
  roomOn,
} from '../../pod/devices.ts'
import { shortageOf, type Trouble, unschedulable } from '../../pod-trouble.ts'
import { TEMPLATE_ANNOTATION } from '../objects/deployment.ts'
import { serverTemplate } from '../objects/pod-template.ts'
import { modelOf, needsDevices } from '../observe/served-model.ts'
import { availableOf, hasBeenReady, isRolling, isWanted, replicasOf, type WantedVersion } from '../observe/version.ts'
import type { ModelView } from '../observe/view.ts'

export interface Surge {
  readonly maxSurge: number
  /** Digest of the template. Absent: it needs no devices. */
  readonly template?: string
  /** For the status, until all pods are replaced. */
  readonly record?: RollingUpdate
  /** The new template is not written before the record is. */
  readonly isHeld?: true
  /** Devices that a new version needs, and that are not free. */
  readonly shortage?: Trouble
}

/** As where nothing is to be decided. */
export const SURGE: Surge = { maxSurge: 1 }

interface Need {
  readonly template: string
  readonly demand: Demand
}

/** Of every version of the spec, by name. */
export function surges(view: ModelView): ReadonlyMap<string, Surge> {
  return new Map(view.versions.filter(isWanted).map((version) => [version.name, surgeOf(view, version)]))
}

export function surgeOf(view: ModelView, version: WantedVersion): Surge {
  const need = needOf(view, version)
  if (!need) return SURGE
  const { template } = need
  if (!version.deployment) return { ...SURGE, template, ...shortageIn(view, version, need) }
  const known = recordedFor(version, template)
  if (known)
    return isReplaced(version, known) ? { ...SURGE, template } : { maxSurge: known.maxSurge, template, record: known }
  if (isChanging(version, template)) return { ...decided(view, version, need), template }
  return { maxSurge: isStuck(version, need) ? 0 : 1, template, ...carriedShortage(version) }
}

/** What has to be known of the nodes for a decision on this version. Undefined: nothing is to be decided. */
export function demandOf(view: ModelView, version: WantedVersion): Demand | undefined {
  const need = needOf(view, version)
  if (!need) return undefined
  if (!version.deployment) return need.demand
  const isOpen = isChanging(version, need.template) && !recordedFor(version, need.template)
  return isOpen && replicasOf(version) > 0 ? need.demand : undefined
}

/** Undefined for pods without devices. */
function needOf({ model, observed: { config } }: ModelView, version: WantedVersion): Need | undefined {
  const { wanted, deployment } = version
  if (!needsDevices(wanted)) return undefined
  const rendered = serverTemplate(modelOf(model, wanted), wanted, config)
  const devices = devicesOf(rendered.spec)
  if (devices.size === 0) return undefined
  const pods = deployment ? 1 : wanted.scaling.minReplicas
  return { template: fingerprint(JSON.stringify(rendered)), demand: { devices, spec: rendered.spec, pods } }
}

function recordedFor({ recorded }: WantedVersion, template: string): RollingUpdate | undefined {
  return recorded?.rollingUpdate?.template === template ? recorded.rollingUpdate : undefined
}

const templateOn = ({ deployment }: WantedVersion): string | undefined =>
  deployment?.metadata.annotations?.[TEMPLATE_ANNOTATION]

/** A Deployment of an earlier release has no digest: it counts as unchanged. */
function isChanging(version: WantedVersion, template: string): boolean {
  const present = templateOn(version)
  return present !== undefined && present !== template
}

/** All pods are replaced, or were: the strategy of the Deployment is reset before the record is dropped. */
function isReplaced(version: WantedVersion, { template, maxSurge }: RollingUpdate): boolean {
  if (templateOn(version) !== template) return false
  if (version.deployment?.spec?.strategy?.rollingUpdate?.maxSurge !== maxSurge) return true
  const { updatedReplicas = 0 } = version.deployment?.status ?? {}
  const pods = replicasOf(version)
  return !isRolling(version) && updatedReplicas >= pods && availableOf(version) >= pods
}

/** Names of resources can be long. */
const MAX_MESSAGE = 512

function decided({ observed }: ModelView, version: WantedVersion, { template, demand }: Need): Surge {
  const { devices: nodes, config } = observed
  if (!nodes || replicasOf(version) === 0) return SURGE
  const fitting = fittingNodes(demand, nodes)
  if (roomIn(fitting, demand) > 0) return SURGE
  const isHelpful = fitting.some((node) => makesRoom(version, node, demand))
  const supply = describeSupply(demand, fitting, config.gpuResource)
  const maxSurge = isHelpful ? 0 : 1
  const message = (isHelpful ? inPlace(version, supply) : inVain(version, supply)).slice(0, MAX_MESSAGE)
  return { maxSurge, record: { template, maxSurge, message }, isHeld: true }
}

/** A pod of the version that ends makes room for a new one on the same node. */
function makesRoom({ pods }: WantedVersion, node: DeviceNode, demand: Demand): boolean {
  const own = pods.filter(({ spec }) => spec?.nodeName === node.name)
  return own.some((pod) => roomOn(node, demand, heldBy([pod])) > 0)
}

function inPlace(version: WantedVersion, supply: string): string {
  const { name } = version
  const effect =
    replicasOf(version) === 1
      ? `its only pod ends before the new one starts, so ${name} does not answer in between`
      : 'pods are replaced one at a time, with one pod less until it is done'
  return `Rolling out ${name} without surge: ${supply}; ${effect}`
}

const inVain = ({ name }: WantedVersion, supply: string): string =>
  `Rolling out ${name} with surge: ${supply}, and ending a pod of ${name} makes no room on a node that fits; old pods stay until there is room`

/** The scheduler finds no devices for a new pod, or found none before: it goes on as it was. */
function isStuck(version: WantedVersion, { demand }: Need): boolean {
  if (!isRolling(version)) return false
  const maxSurge = version.deployment?.spec?.strategy?.rollingUpdate?.maxSurge
  const lacks = (message: string | undefined): boolean =>
    [...demand.devices.keys()].some((name) => message?.includes(`Insufficient ${name}`))
  return maxSurge === 0 || version.pods.some((pod) => lacks(unschedulable(pod)))
}

/** Said before its pods are created. They are created nevertheless: autoscalers and preemption act on pods that wait. */
function shortageIn({ observed }: ModelView, { name }: WantedVersion, { demand }: Need): Pick<Surge, 'shortage'> {
  const { devices: nodes, config } = observed
  if (!nodes) return {}
  const fitting = fittingNodes(demand, nodes)
  if (roomIn(fitting, demand) >= demand.pods) return {}
  const supply = describeSupply(demand, fitting, config.gpuResource)
  const [device = ''] = demand.devices.keys()
  const advice = 'they wait for a node: add nodes, free devices, or use the strategy recreate'
  const message = `${supply} on nodes that fit, for ${quantify(demand.pods, 'pod')} of ${name}; ${advice}`
  return { shortage: { reason: shortageOf(`Insufficient ${device}`, config.gpuResource), message, isWaiting: true } }
}

const SHORTAGES: readonly (string | undefined)[] = ['InsufficientGPU', 'InsufficientResources']

/** Until the scheduler has decided about the first pods. */
function carriedShortage(version: WantedVersion): Pick<Surge, 'shortage'> {
  const { reason, message = '' } = version.recorded ?? {}
  if (reason === undefined || !SHORTAGES.includes(reason) || hasBeenReady(version)) return {}
  const isUndecided = version.pods.every((pod) => !pod.spec?.nodeName && unschedulable(pod) === undefined)
  return isUndecided ? { shortage: { reason, message, isWaiting: true } } : {}
}
