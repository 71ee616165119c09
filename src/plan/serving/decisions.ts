/** Everything that a plan decides about a model, before it is rendered as objects, status and events. */
import type { Trouble } from '../pod-trouble.ts'
import { apportion, type Weights, WHOLE } from '../traffic/index.ts'
import { replicasOf, type Version } from './observe/version.ts'
import type { ModelView } from './observe/view.ts'
import { sickPodsTrouble } from './report/sick-pods.ts'
import { troubleOf } from './report/trouble.ts'
import type { Advance } from './rollout/stage.ts'
import type { Replacement } from './steps/eviction.ts'
import type { Retirement } from './steps/retirement.ts'
import type { Routing } from './steps/routing.ts'
import type { Size } from './steps/scale.ts'
import { isAwaiting, isHeld, type ValidationState } from './steps/validation.ts'

export interface VersionDecision extends Size {
  readonly version: Version
  readonly validation?: ValidationState
  /** Its objects are written. Not while it is being validated, nor once the spec no longer has it. */
  readonly isWritten: boolean
  readonly trouble?: Trouble
  readonly retirement: Retirement
  readonly replacement: Replacement
  /** Available pods that pass their health check. */
  readonly healthy: number
}

export interface Decisions {
  readonly routing: Routing
  readonly rollout?: Advance
  readonly versions: readonly VersionDecision[]
}

/** The results of the steps, by name of the version. */
export interface StepResults {
  readonly validations: ReadonlyMap<string, ValidationState>
  readonly routing: Routing
  readonly sizes: ReadonlyMap<string, Size>
  readonly retirements: ReadonlyMap<string, Retirement>
  readonly replacements: ReadonlyMap<string, Replacement>
  readonly rollout?: Advance
}

export function decisionsOf(view: ModelView, results: StepResults): Decisions {
  const versions = view.versions.map((version) => decisionOf(view, results, version))
  const { routing, rollout } = results
  return {
    routing: { ...routing, reported: amongStaying(routing.reported, versions) },
    versions,
    ...(rollout && { rollout }),
  }
}

function decisionOf(
  view: ModelView,
  { validations, sizes, retirements, replacements }: StepResults,
  version: Version,
): VersionDecision {
  const validation = validations.get(version.name)
  const replacement = replacements.get(version.name) ?? {}
  const trouble = validation?.trouble ?? troubleOf(view, version) ?? sickPodsTrouble(view, version, replacement)
  return {
    version,
    ...(validation && { validation }),
    isWritten: isWritten(view, validations, version),
    ...(sizes.get(version.name) ?? { floor: 0, isAutoscaled: false }),
    ...(trouble && { trouble }),
    retirement: retirements.get(version.name) ?? { isOver: false },
    replacement,
    healthy: view.findings.get(version.name)?.healthy ?? 0,
  }
}

const isWritten = (view: ModelView, validations: StepResults['validations'], version: Version): boolean =>
  version.wanted !== undefined && !isHeld(validations, version) && !isAwaiting(view, version)

/** Where pod counts split the traffic, a version that is deleted takes its share with it. */
function amongStaying(reported: Weights, versions: readonly VersionDecision[]): Weights {
  const staying = versions.filter(({ retirement }) => !retirement.isOver).map(({ version }) => version.name)
  return apportion(new Map(staying.map((name) => [name, reported.get(name) ?? 0])), WHOLE)
}

/** Pods that the version should have, for the status. */
export const desiredPods = ({ version, replicas }: VersionDecision): number => replicas ?? replicasOf(version)
