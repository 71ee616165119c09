/** Everything that a plan decides about one version, before it is written out as objects, status and events. */
import { validationOf, type ValidationState } from './validation.ts'
import type { Wanted } from './deployment.ts'
import type { Trouble } from '../pod-trouble.ts'
import { retirementOf, type Retirement } from './retirement.ts'
import { type Routing, routingOf } from './routing.ts'
import { isAutoscaled, replicasSaid, splitOf } from './scale.ts'
import type { Scene } from './scene.ts'
import { troubleOf } from './trouble.ts'
import { apportion } from '../traffic/apportion.ts'
import { replicasOf, type Version } from './version.ts'
import type { Weights } from './weights.ts'

export interface VersionState {
  readonly version: Version
  readonly validation?: ValidationState
  /** Its Deployment is written: not while it is being validated, nor once the spec has let go of it. */
  readonly isWritten: boolean
  /** The number of pods to say; nothing where an autoscaler says it. */
  readonly replicas?: number
  /** The fewest pods that it should have. */
  readonly floor: number
  readonly isAutoscaled: boolean
  readonly trouble?: Trouble
  readonly retirement: Retirement
}

export interface State {
  readonly routing: Routing
  readonly versions: readonly VersionState[]
}

export const isWanted = (version: Version): version is Wanted => version.wanted !== undefined

export function stateOf(scene: Scene): State {
  const validations = new Map(
    scene.versions.filter(isWanted).map((version) => [version.name, validationOf(scene, version)]),
  )
  const isHeld = (version: Version): boolean => (validations.get(version.name)?.outcome ?? 'passed') !== 'passed'
  const alive = scene.versions.filter((version) => version.deployment || (version.wanted && !isHeld(version)))
  const routing = routingOf(scene, alive)
  const counts = countsOf(scene, routing)
  const versions = scene.versions.map((version): VersionState => {
    const validation = validations.get(version.name)
    const trouble = validation?.trouble ?? troubleOf(scene, version)
    return {
      version,
      ...(validation && { validation }),
      isWritten: version.wanted !== undefined && !isHeld(version),
      ...sizeOf(version, counts?.get(version.name)),
      ...(trouble && { trouble }),
      retirement: retirementOf(scene, routing, version),
    }
  })
  return { routing: { ...routing, told: amongStaying(routing, versions) }, versions }
}

/** Pods that divide traffic by their number take their share with them when they go. */
function amongStaying({ told }: Routing, versions: readonly VersionState[]): Weights {
  const staying = versions.filter(({ retirement }) => !retirement.isOver).map(({ version }) => version.name)
  return apportion(new Map(staying.map((name) => [name, told.get(name) ?? 0])), 100)
}

/** Numbers of pods, where they divide the traffic or are about to. */
function countsOf(scene: Scene, { way, ways }: Routing): ReadonlyMap<string, number> | undefined {
  if (ways.every(({ name }) => name !== 'replicas')) return undefined
  const { provider, previous } = scene.known.traffic ?? {}
  const isComing = way.name !== 'replicas' && previous !== 'replicas'
  const isCarrying = way.name === 'replicas' && provider === 'replicas'
  return way.name === 'replicas' || isComing ? splitOf(scene.model, scene.versions, isCarrying) : undefined
}

function sizeOf(version: Version, count: number | undefined) {
  const scaling = version.wanted?.scaling
  if (!scaling) return { floor: 0, isAutoscaled: false }
  if (count !== undefined) return { replicas: count, floor: count, isAutoscaled: false }
  const said = replicasSaid(version, scaling)
  return {
    ...(said !== undefined && { replicas: said }),
    floor: scaling.minReplicas,
    isAutoscaled: isAutoscaled(scaling),
  }
}

/** Pods that it has been told to have, for people. */
export const sizeTold = ({ version, replicas }: VersionState): number => replicas ?? replicasOf(version)
