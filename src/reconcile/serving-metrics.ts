import { Counter, type Registry } from 'prom-client'
import type { ActiveVersion } from '../api/serving-status.ts'
import type { PlannedServingStatus } from '../plan/serving/index.ts'

const VALIDATION_FAILED = 'ValidationFailed'

/** Counters over all models. An event counts in the pass that records it in the status, so a restart repeats nothing. */
export class ServingMetrics {
  readonly #created: Counter
  readonly #validations: Counter<'status'>

  constructor(registry: Registry) {
    const registers = [registry]
    const created = 'ModelDeployments that were created'
    this.#created = new Counter({ name: 'model_deployments_created_total', help: created, registers })
    const validations = 'Validations of models that have ended, by how'
    const labelNames = ['status'] as const
    this.#validations = new Counter({ name: 'model_validations_total', help: validations, labelNames, registers })
  }

  /** To be called when a status was stored. */
  noted(before: PlannedServingStatus | undefined, now: PlannedServingStatus | undefined): void {
    if (!now) return
    if (before?.observedGeneration === undefined) this.#created.inc()
    for (const version of now.activeVersions ?? [])
      this.#validated(
        before?.activeVersions?.find(({ name }) => name === version.name),
        version,
      )
  }

  #validated(before: ActiveVersion | undefined, now: ActiveVersion): void {
    if (now.validated !== undefined && now.validated !== before?.validated)
      this.#validations.inc({ status: 'succeeded' })
    if (now.reason === VALIDATION_FAILED && before?.reason !== VALIDATION_FAILED)
      this.#validations.inc({ status: 'failed' })
  }
}
