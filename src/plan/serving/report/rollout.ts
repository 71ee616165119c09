/**
 * The conditions of a rollout.
 *
 * - Paused: it waits for a person.
 * - CanaryHealthy: the last judgement of the new versions. Unknown before the first.
 * - RolledBack: it went back to the last good weights.
 */
import type { Verdict } from '../../../api/conditions.ts'
import type { RolloutStatus } from '../../../api/rollout-status.ts'
import { reasonWord } from '../../reason-word.ts'
import type { Trouble } from '../../pod-trouble.ts'
import type { Decisions } from '../decisions.ts'
import { accountOf } from '../rollout/analysis.ts'

/** The types that the operator writes, while the spec has a rollout. */
export const rolloutConditionTypes = ['Paused', 'CanaryHealthy', 'RolledBack'] as const

type Type = (typeof rolloutConditionTypes)[number]
type Finding = Pick<Verdict, 'status' | 'reason' | 'message'>

export function rolloutConditions({ rollout }: Decisions, generation: number | undefined): Verdict[] {
  if (!rollout) return []
  const { state } = rollout
  const findings: Readonly<Record<Type, Finding>> = {
    Paused: pausedOf(state),
    CanaryHealthy: healthOf(state),
    RolledBack: backOf(state),
  }
  return rolloutConditionTypes.map((type) => ({
    type,
    ...findings[type],
    reason: reasonWord(findings[type].reason),
    ...(generation !== undefined && { observedGeneration: generation }),
  }))
}

const said = ({ reason, message }: RolloutStatus, fallback: string): Pick<Finding, 'reason' | 'message'> => ({
  reason: reason ?? fallback,
  message: message ?? fallback,
})

function pausedOf(state: RolloutStatus): Finding {
  if (state.phase === 'Paused') return { status: 'True', ...said(state, 'Paused') }
  return { status: 'False', reason: 'NotPaused', message: 'The rollout does not wait for a person' }
}

function backOf(state: RolloutStatus): Finding {
  if (state.phase === 'RolledBack' || state.phase === 'Aborted') return { status: 'True', ...said(state, state.phase) }
  return { status: 'False', reason: 'NotRolledBack', message: `Revision ${state.revision} was not rolled back` }
}

function healthOf({ phase, revision, analysis }: RolloutStatus): Finding {
  if (phase === 'Completed')
    return { status: 'True', reason: 'Completed', message: `Revision ${revision} is completed` }
  if (analysis?.result === 'Pass')
    return { status: 'True', reason: 'AnalysisPassed', message: 'The last interval was within all limits' }
  if (analysis?.result === 'Fail') return { status: 'False', reason: 'AnalysisFailed', message: accountOf(analysis) }
  return { status: 'Unknown', reason: 'NotJudged', message: 'The new versions are not judged yet' }
}

/** A rollout that is under way. */
export function rolloutProgress({ rollout }: Decisions): Trouble[] {
  const { phase, message = '' } = rollout?.state ?? {}
  return phase === 'Progressing' || phase === 'Watching' ? [{ reason: 'RolloutProgressing', message }] : []
}

/** Nothing answers because a person chose to remove the old versions first. */
export function recreation({ rollout }: Decisions): Trouble | undefined {
  const { phase, strategy, message = '' } = rollout?.state ?? {}
  if (strategy !== 'recreate' || phase === 'Completed' || phase === 'RolledBack' || phase === 'Aborted')
    return undefined
  return {
    reason: 'Recreating',
    message: `Nothing answers while versions are replaced (strategy recreate). ${message}`,
  }
}

/** A rollout that goes on only if a person acts. */
export function rolloutStop({ rollout }: Decisions): Trouble | undefined {
  if (rollout?.problem !== undefined) return { reason: 'RevisionNotFound', message: rollout.problem }
  const { phase, reason = '', message = '' } = rollout?.state ?? {}
  if (phase === undefined || phase === 'Completed' || phase === 'Progressing' || phase === 'Watching') return undefined
  return { reason, message }
}
