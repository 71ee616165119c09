/** What a step without traffic waits for: new versions with all their pods, or old versions that are gone. */
import type { RolloutStatus } from '../../../api/rollout-status.ts'
import { millis, notBefore } from '../../time.ts'
import { availableOf, isReady, isRolling, replicasOf, type Version } from '../observe/version.ts'
import { atStep } from './course.ts'
import { failed } from './ending.ts'
import { type Advance, at, isVersionReady, nameOf, type Stage } from './stage.ts'
import { isPreview } from './strategy.ts'
import { gaining } from './way.ts'
import { toWeights } from './revision.ts'

/** New versions that the step needs and that are not ready. Before a switch of all traffic, every pod has to be. */
export function unreadyOf({ view, travel: { stable, destination }, state }: Stage): string[] {
  if (!isPreview(state)) return gaining(stable, toWeights(state.weights)).filter((name) => !isVersionReady(view, name))
  const isPrepared = (name: string): boolean => view.versions.some((one) => one.name === name && isComplete(one))
  return gaining(stable, destination).filter((name) => !isPrepared(name))
}

function isComplete(version: Version): boolean {
  const { minReplicas = 1 } = version.wanted?.scaling ?? {}
  const pods = replicasOf(version)
  return isReady(version) && !isRolling(version) && pods >= minReplicas && availableOf(version) >= pods
}

/** When the step fails, in milliseconds of the epoch. */
export const deadlineOf = ({ view, state, travel }: Stage): number =>
  (millis(state.stepStartedAt) ?? view.now) + travel.spec.rollout.progressDeadlineSeconds * 1000

/** Fails after the deadline; until then the step waits. */
export function waitFor(stage: Stage, next: RolloutStatus, what: string): Advance {
  const { view, state, travel } = stage
  const { progressDeadlineSeconds } = travel.spec.rollout
  if (view.now < deadlineOf(stage)) return at(stage, next, deadlineOf(stage))
  const message = `${nameOf(state)}: waited ${progressDeadlineSeconds} s (progressDeadlineSeconds) for ${what}`
  return failed(stage, 'ProgressDeadlineExceeded', message)
}

/** The preview starts over: nobody was served by what was lost. */
export function prepareAgain(stage: Stage, names: string): Advance {
  const { inEffectSince: _since, ...state } = stage.state
  const message = `${nameOf(state)}: ${names} has lost a pod, and must have all of them before the switch`
  const stepStartedAt = notBefore(stage.view.now)
  return at(stage, { ...state, phase: 'Progressing', stepStartedAt, reason: 'Waiting', message })
}

/** The old versions are removed before the new ones start. */
export function remove(stage: Stage): Advance {
  const { view, travel, state } = stage
  const left = view.versions.filter(({ wanted }) => !wanted).map(({ name }) => name)
  if (left.length === 0) return at(stage, atStep(travel, travel.steps.length, view.now))
  const isServed = view.versions.some((version) => version.wanted && isReady(version))
  const effect = isServed ? '' : '; until then the model does not answer'
  const message = `${nameOf(state)}: removing ${left.join(', ')} before ${state.candidate ?? ''} starts${effect}`
  const next = { ...state, phase: 'Progressing', reason: 'Recreating', message } as const
  return waitFor(stage, next, `${left.join(', ')} to be gone`)
}
