/**
 * Measures progress reports: a real operator process, a real API server that reviews the tokens of the pods, and one worker per job
 * that sends its reports by HTTPS. The sender shares the machine with both.
 */
import { createClient } from '../src/kube/client.ts'
import { configFromKubeconfig } from '../src/kube/config.ts'
import { installApi } from '../test/cluster/api.ts'
import { startControlPlane } from '../testenv/control-plane.ts'
import { benchmarkArguments } from './bench/arguments.ts'
import { runningJobs } from './bench/report-jobs.ts'
import { type LoadTarget, type Reporter, sendReports } from './bench/report-load.ts'
import { type ReportOperator, startReportOperator } from './bench/report-operator.ts'

const HELP = `Usage: scripts/bench-reports.ts [JOBS [SECONDS [MOST]]]

Measures progress reports of running jobs: reports a second, delay of the event loop, and writes of the status.

  JOBS     running jobs with one worker each (1000)
  SECONDS  duration of each round (20)
  MOST     reports a second that are offered in the last round (20000)`

const [jobs, seconds, most] = benchmarkArguments(HELP, [1_000, 20, 20_000])
/** In the first round, which warms the cache of tokens, each job reports at least once. */
const RATES = [Math.ceil((2 * jobs) / seconds), 20, 1_000, most]

async function round(operator: ReportOperator, reporters: readonly Reporter[], perSecond: number): Promise<void> {
  const { target }: { readonly target: LoadTarget } = operator
  const before = await operator.counts()
  const { codes, seconds: took } = await sendReports(target, reporters, { perSecond, seconds })
  const after = await operator.counts()
  const cells = [
    perSecond,
    ((codes.get(204) ?? 0) / took).toFixed(0),
    [...codes].flatMap(([code, times]) => (code === 204 ? [] : `${times}× ${code}`)).join(', ') || 'none',
    `${(after.delayP99 * 1000).toFixed(0)} ms`,
    ((after.statusWrites - before.statusWrites) / took).toFixed(1),
    after.tokenReviews - before.tokenReviews,
  ]
  console.log(`| ${cells.join(' | ')} |`)
}

const plane = await startControlPlane()
try {
  await plane.scheduler.stop()
  const cluster = await configFromKubeconfig(plane.kubeconfig)
  const client = createClient(cluster)
  await installApi(client)
  await client.close()
  const operator = await startReportOperator(plane.kubeconfig)
  const reporters = await runningJobs(cluster, jobs)
  console.log(`${jobs} jobs, rounds of ${seconds} s`)
  console.log('| offered/s | accepted/s | other responses | event loop p99 | status writes/s | token reviews |')
  console.log('| --- | --- | --- | --- | --- | --- |')
  for (const perSecond of RATES) await round(operator, reporters, perSecond)
  await operator.stop()
} finally {
  await plane.stop()
}
