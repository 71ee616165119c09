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
import { SURGE, type Surge } from './steps/surge.ts'
import { isAwaiting, isHeld, type ValidationState } from './steps/validation.ts'

export interface VersionDecision extends Size {
  readonly version: Version
  readonly validation?: ValidationState
  /** Its objects are written. Not while it is being validated or a decision on it is recorded, nor once the spec no longer has it. */
  readonly isWritten: boolean
  readonly trouble?: Trouble
  readonly surge: Surge
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
  readonly surges: ReadonlyMap<string, Surge>
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
  { validations, sizes, surges, retirements, replacements }: StepResults,
  version: Version,
): VersionDecision {
  const validation = validations.get(version.name)
  const replacement = replacements.get(version.name) ?? {}
  const surge = surges.get(version.name) ?? SURGE
  const trouble = validation?.trouble ?? podTrouble(view, version, { surge, replacement })
  return {
    version,
    ...(validation && { validation }),
    isWritten: isWritten(view, validations, version) && !surge.isHeld,
    surge,
    ...(sizes.get(version.name) ?? NO_PODS),
    ...(trouble && { trouble }),
    retirement: retirements.get(version.name) ?? STAYING,
    replacement,
    healthy: view.findings.get(version.name)?.healthy ?? 0,
  }
}

const podTrouble = (
  view: ModelView,
  version: Version,
  { surge, replacement }: Pick<VersionDecision, 'surge' | 'replacement'>,
): Trouble | undefined => troubleOf(view, version) ?? surge.shortage ?? sickPodsTrouble(view, version, replacement)

const NO_PODS: Size = { floor: 0, isAutoscaled: false }
const STAYING: Retirement = { isOver: false }

const isWritten = (view: ModelView, validations: StepResults['validations'], version: Version): boolean =>
  version.wanted !== undefined && !isHeld(validations, version) && !isAwaiting(view, version)

/** Where pod counts split the traffic, a version that is deleted takes its share with it. */
function amongStaying(reported: Weights, versions: readonly VersionDecision[]): Weights {
  const staying = versions.filter(({ retirement }) => !retirement.isOver).map(({ version }) => version.name)
  return apportion(new Map(staying.map((name) => [name, reported.get(name) ?? 0])), WHOLE)
}

/** Pods that the version should have, for the status. */
export const desiredPods = ({ version, replicas }: VersionDecision): number => replicas ?? replicasOf(version)
