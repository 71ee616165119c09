/** Rounds of a benchmark with the operator process, and their comparison with rounds without one. */
import { setTimeout as delay } from 'node:timers/promises'
import { startOperatorProcess } from '../../test/operator/operator-process.ts'
import { until } from '../../test/timing/until.ts'
import { PATIENCE_MS } from './load.ts'
import { between, type Calls, callsAtRest, callsOf } from './operator-calls.ts'

export interface OperatorRound {
  readonly seconds: number
  /** Calls after its start for objects of earlier rounds. */
  readonly served: Calls
  readonly calls: Calls
  readonly atRest: Calls
}

export interface Restart {
  readonly seconds: number
  readonly calls: Calls
}

const FLAGS = ['--no-webhook', '--no-leader-elect', '--log-level=warn']

/** Starts an operator and measures a load, which returns its seconds, and the calls in `restMs` after convergence. */
export async function operatorRound(
  kubeconfig: string,
  load: () => Promise<number>,
  restMs: number,
): Promise<OperatorRound> {
  const operator = await startOperatorProcess(kubeconfig, FLAGS)
  const served = await callsAtRest(operator)
  const seconds = await load()
  const done = await callsAtRest(operator)
  await delay(restMs)
  const later = await callsOf(operator)
  await operator.stop()
  return { seconds, served, calls: between(served, done), atRest: between(done, later) }
}

/** Starts an operator and waits until it has reconciled this many objects. */
export async function restarted(kubeconfig: string, objects: number): Promise<Restart> {
  const began = performance.now()
  const operator = await startOperatorProcess(kubeconfig, FLAGS)
  await until('every object to be reconciled', async () => (await callsOf(operator)).passes >= objects, PATIENCE_MS)
  const seconds = (performance.now() - began) / 1000
  const calls = await callsAtRest(operator)
  await operator.stop()
  return { seconds, calls }
}

/** The time of each operator round, as a ratio to the mean of the rounds without an operator before and after it. */
export const ratiosToRaw = (rounds: readonly OperatorRound[], raw: readonly number[]): number[] =>
  rounds.map(({ seconds }, index) => (2 * seconds) / ((raw[index] ?? 0) + (raw[index + 1] ?? 0)))
