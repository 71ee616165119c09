/**
 * Measures the cost of a TrainingJob; see `bench/measure.ts`. Runs on a control plane of its own, without a scheduler, so that only the
 * operator writes to the pods.
 */
import { startControlPlane } from '../testenv/control-plane.ts'
import { benchmarkArguments } from './bench/arguments.ts'
import { median } from './bench/median.ts'
import { measure, type Measurement, type Sizes } from './bench/measure.ts'
import type { OperatorRound } from './bench/operator-round.ts'

const HELP = `Usage: scripts/bench.ts [JOBS [WORKERS [ROUNDS]]]

Counts the writes of training jobs, and compares their time with the same writes without an operator.

  JOBS     training jobs, spread over the rounds (1000)
  WORKERS  workers of each job (4)
  ROUNDS   rounds (5)`

const [jobs, workers, rounds] = benchmarkArguments(HELP, [1_000, 4, 5])
const sizes: Sizes = { jobs: Math.ceil(jobs / rounds), workers, rounds, restMs: 10_000 }

function print({ untilPods, rounds: done, raw, ratios, restart }: Measurement): void {
  const { plain, full } = untilPods
  const total = (count: (round: OperatorRound) => number): number => done.reduce((sum, one) => sum + count(one), 0)
  const perJob = (count: (round: OperatorRound) => number): string => (total(count) / (sizes.jobs * rounds)).toFixed(2)
  const kinds = [...new Set(done.flatMap(({ calls }) => [...calls.byKind.keys()]))]
  const served = raw.length * sizes.jobs
  const lines: readonly [string, string][] = [
    ['writes of a job until its pods exist', `${plain} (pods + ${plain - workers})`],
    ['  with hyperparameters and a claim', `${full} (pods + ${full - workers})`],
    ['writes per job until converged', perJob(({ calls }) => calls.writes)],
    ...kinds.map((kind): [string, string] => [`  ${kind}`, perJob(({ calls }) => calls.byKind.get(kind) ?? 0)]),
    ['reads per job', perJob(({ calls }) => calls.reads)],
    ['writes once converged', `${total(({ atRest }) => atRest.writes)} in ${(rounds * sizes.restMs) / 1000} s`],
    [
      'writes after a restart',
      `${restart.calls.writes} (every job reconciled ${restart.seconds.toFixed(1)} s after it)`,
    ],
    ['writes for existing jobs', `${total((round) => round.served.writes)} of ${served} jobs`],
    ['raw writes', spread(raw)],
    ['operator', `${spread(done.map(({ seconds }) => seconds))}; ${podsPerSecond(done)} pods/s`],
    ['ratio to raw writes, by round', ratios.map((ratio) => ratio.toFixed(2)).join(', ')],
    ['ratio to raw writes, median', median(ratios).toFixed(2)],
  ]
  console.log(`${sizes.jobs * rounds} jobs × ${workers} workers, in ${rounds} rounds of ${sizes.jobs}`)
  for (const [name, value] of lines) console.log(`${name.padEnd(38)}${value}`)
}

const spread = (seconds: readonly number[]): string => seconds.map((one) => `${one.toFixed(1)} s`).join(', ')

const podsPerSecond = (done: readonly OperatorRound[]): string =>
  ((sizes.jobs * workers) / median(done.map(({ seconds }) => seconds))).toFixed(0)

const plane = await startControlPlane()
try {
  await plane.scheduler.stop()
  print(await measure(plane.kubeconfig, sizes))
} finally {
  await plane.stop()
}
