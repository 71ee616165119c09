/**
 * What a model of two versions costs; see `bench/serving-measure.ts`. Runs on a control plane of its own, without a
 * scheduler and a controller manager, so that nobody else writes.
 *
 * Usage: scripts/bench-serving.ts [MODELS] [ROUNDS]      500 5 if not told; the models are divided among the rounds
 */
import { startControlPlane } from '../testenv/control-plane.ts'
import { median } from './bench/median.ts'
import { measureServing, type ServingMeasurement, type ServingRound } from './bench/serving-measure.ts'

const [models = 500, rounds = 5] = process.argv.slice(2).map(Number)
const sizes = { models: Math.ceil(models / rounds), rounds, restMs: 10_000 }

function print({ rounds: done, raw, ratios, restart }: ServingMeasurement): void {
  const total = (count: (round: ServingRound) => number): number => done.reduce((sum, one) => sum + count(one), 0)
  const perModel = (count: (round: ServingRound) => number): string =>
    (total(count) / (sizes.models * rounds)).toFixed(2)
  const kinds = [...new Set(done.flatMap(({ calls }) => [...calls.byKind.keys()]))]
  const lines: readonly [string, string][] = [
    ['writes per model until it is at rest', perModel(({ calls }) => calls.writes)],
    ...kinds.map((kind): [string, string] => [`  ${kind}`, perModel(({ calls }) => calls.byKind.get(kind) ?? 0)]),
    ['reads per model', perModel(({ calls }) => calls.reads)],
    ['writes at rest', `${total(({ atRest }) => atRest.writes)} in ${(rounds * sizes.restMs) / 1000} s`],
    ['writes after a restart', `${restart.calls.writes} (every model seen ${restart.seconds.toFixed(1)} s after it)`],
    ['writes for models served without it', `${total((round) => round.served.writes)}`],
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
