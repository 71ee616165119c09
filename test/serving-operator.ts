/** The serving half of the operator inside the test's own process. */
import { addServingControllers, type ServingOptions } from '../src/reconcile/serving.ts'
import { type Operator, type ProgramOptions, startProgram } from './operator.ts'

/** Rates come with time; a test that asks for rest has none of them, unless it says so. */
const noRates = { note: () => undefined }

/** Nothing is waited for longer than a test can wait, unless it says so. */
const QUICK = { drainSeconds: 0 }

export function startServing(options: ProgramOptions & ServingOptions): Operator {
  return startProgram(options, (manager) => {
    addServingControllers(manager, {
      discoveryMs: 200,
      rates: noRates,
      ...options,
      config: { ...QUICK, ...options.config },
    })
  })
}
