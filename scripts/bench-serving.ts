/**
 * Measures the cost of a model of two versions; see `bench/serving-measure.ts`. Runs on a control plane of its own, without scheduler
 * and controller manager, so that only the operator writes.
 */
import { startControlPlane } from '../testenv/control-plane.ts'
import { benchmarkArguments } from './bench/arguments.ts'
import { median } from './bench/median.ts'
import type { OperatorRound } from './bench/operator-round.ts'
import { measureServing, type ServingMeasurement } from './bench/serving-measure.ts'

const HELP = `Usage: scripts/bench-serving.ts [MODELS [ROUNDS]]

Counts the writes of models of two versions, and compares their time with the same writes without an operator.

  MODELS  models, spread over the rounds (500)
  ROUNDS  rounds (5)`

const [models, rounds] = benchmarkArguments(HELP, [500, 5])
const sizes = { models: Math.ceil(models / rounds), rounds, restMs: 10_000 }

function print({ rounds: done, raw, ratios, restart }: ServingMeasurement): void {
  const total = (count: (round: OperatorRound) => number): number => done.reduce((sum, one) => sum + count(one), 0)
  const perModel = (count: (round: OperatorRound) => number): string =>
    (total(count) / (sizes.models * rounds)).toFixed(2)
  const kinds = [...new Set(done.flatMap(({ calls }) => [...calls.byKind.keys()]))]
  const lines: readonly [string, string][] = [
    ['writes per model until converged', perModel(({ calls }) => calls.writes)],
    ...kinds.map((kind): [string, string] => [`  ${kind}`, perModel(({ calls }) => calls.byKind.get(kind) ?? 0)]),
    ['reads per model', perModel(({ calls }) => calls.reads)],
    ['writes once converged', `${total(({ atRest }) => atRest.writes)} in ${(rounds * sizes.restMs) / 1000} s`],
    [
      'writes after a restart',
      `${restart.calls.writes} (every model reconciled ${restart.seconds.toFixed(1)} s after it)`,
    ],
    ['writes for existing models', `${total((round) => round.served.writes)}`],
    ['raw writes', spread(raw)],
    ['operator', spread(done.map(({ seconds }) => seconds))],
    ['ratio to raw writes, by round', ratios.map((ratio) => ratio.toFixed(2)).join(', ')],
    ['ratio to raw writes, median', median(ratios).toFixed(2)],
  ]
  console.log(`${sizes.models * rounds} models × 2 versions, in ${rounds} rounds of ${sizes.models}`)
  for (const [name, value] of lines) console.log(`${name.padEnd(38)}${value}`)
}

const spread = (seconds: readonly number[]): string => seconds.map((one) => `${one.toFixed(1)} s`).join(', ')

const plane = await startControlPlane()
try {
  await Promise.all([plane.scheduler.stop(), plane.controllerManager.stop()])
  print(await measureServing(plane.kubeconfig, sizes))
} finally {
  await plane.stop()
}
