/** The serving controllers inside the test's process. */
import { addServingControllers, type ServingOptions } from '../../src/reconcile/serving.ts'
import { type Operator, type ProgramOptions, startProgram } from './operator.ts'

/** Rates change with time, so by default there are none: otherwise the status would never settle. */
const noRates = { note: () => undefined }

/** By default, versions and providers are removed without a drain period. */
const WITHOUT_DRAIN = { drainSeconds: 0 }

export function startServing(options: ProgramOptions & ServingOptions): Operator {
  return startProgram(options, (manager) => {
    addServingControllers(manager, {
      discoveryMs: 200,
      rates: noRates,
      ...options,
      config: { ...WITHOUT_DRAIN, ...options.config },
    })
  })
}
