import { Counter, type Registry } from 'prom-client'
import type { ActiveVersion } from '../api/serving-status.ts'
import type { RolloutStatus } from '../api/rollout-status.ts'
import type { PlannedServingStatus } from '../plan/serving/index.ts'

const VALIDATION_FAILED = 'ValidationFailed'

/** Counters over all models. An event counts in the pass that records it in the status, so a restart repeats nothing. */
export class ServingMetrics {
  readonly #created: Counter
  readonly #validations: Counter<'status'>
  readonly #rollouts: Counter<'transition'>
  readonly #evictions: Counter<'reason'>

  constructor(registry: Registry) {
    const registers = [registry]
    const created = 'ModelDeployments that were created'
    this.#created = new Counter({ name: 'model_deployments_created_total', help: created, registers })
    const validations = 'Validations of models that have ended, by how'
    const labelNames = ['status'] as const
    this.#validations = new Counter({ name: 'model_validations_total', help: validations, labelNames, registers })
    this.#rollouts = new Counter({
      name: 'model_rollout_transitions_total',
      help: 'Steps of rollouts that have started, and rollouts that have reached a phase, by which',
      labelNames: ['transition'],
      registers,
    })
    this.#evictions = new Counter({
      name: 'model_pod_evictions_total',
      help: 'Pods of models that were evicted because they were unhealthy, by why',
      labelNames: ['reason'],
      registers,
    })
  }

  /** To be called when a status was stored. */
  noted(before: PlannedServingStatus | undefined, now: PlannedServingStatus | undefined): void {
    if (!now) return
    if (before?.observedGeneration === undefined) this.#created.inc()
    this.#moved(before?.rollout, now.rollout)
    for (const version of now.activeVersions ?? []) {
      const known = before?.activeVersions?.find(({ name }) => name === version.name)
      this.#validated(known, version)
      this.#evicted(known, version)
    }
  }

  /** The record of an eviction ends with a later time of the last one, unless it was dropped. */
  #evicted(before: ActiveVersion | undefined, { health }: ActiveVersion): void {
    const due = before?.health?.evicting
    if (due && !health?.evicting && health?.lastEvictionTime !== before.health?.lastEvictionTime)
      this.#evictions.inc({ reason: due.reason })
  }

  #moved(before: RolloutStatus | undefined, now: RolloutStatus | undefined): void {
    if (!now || !before) return
    const isSame = before.revision === now.revision
    if (now.phase === 'Progressing' && !(isSame && before.step === now.step))
      this.#rollouts.inc({ transition: 'StepStarted' })
    if (now.phase !== 'Progressing' && !(isSame && before.phase === now.phase))
      this.#rollouts.inc({ transition: now.phase })
  }

  #validated(before: ActiveVersion | undefined, now: ActiveVersion): void {
    if (now.validated !== undefined && now.validated !== before?.validated)
      this.#validations.inc({ status: 'succeeded' })
    if (now.reason === VALIDATION_FAILED && before?.reason !== VALIDATION_FAILED)
      this.#validations.inc({ status: 'failed' })
  }
}
