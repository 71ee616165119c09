/** The operator process with the server for progress reports, and what its metrics say about it. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCa, issue } from '../../src/kube/x509.ts'
import { startOperatorProcess } from '../../test/operator/operator-process.ts'
import { freePorts } from '../../testenv/ports.ts'
import { callsOf } from './operator-calls.ts'
import type { LoadTarget } from './report-load.ts'

export interface ReportCounts {
  /** Writes of the status. */
  readonly statusWrites: number
  readonly tokenReviews: number
  /** Of the event loop since the last count, in seconds. */
  readonly delayP99: number
}

export interface ReportOperator {
  readonly target: LoadTarget
  counts(): Promise<ReportCounts>
  stop(): Promise<void>
}

const SERVER = 'ml-operator-webhook.default.svc'
const HOURS = 24 * 3_600_000

export async function startReportOperator(kubeconfig: string): Promise<ReportOperator> {
  const notAfter = new Date(Date.now() + HOURS)
  const ca = createCa({ commonName: 'bench', notAfter })
  const leaf = issue(ca, { commonName: 'operator', dnsNames: [SERVER], usages: ['server'], notAfter })
  const directory = await mkdtemp(join(tmpdir(), 'bench-'))
  const files = { 'tls.crt': leaf.cert, 'tls.key': leaf.key, 'ca.crt': ca.cert }
  for (const [name, content] of Object.entries(files)) await writeFile(join(directory, name), content)
  const [port = 0] = await freePorts(1)
  const reports = ['--reports', `--report-port=${port}`, '--progress-logs=0', `--webhook-cert-dir=${directory}`]
  const operator = await startOperatorProcess(kubeconfig, [...reports, '--no-leader-elect', '--log-level=warn'])
  return {
    target: { port, ca: ca.cert, serverName: SERVER },
    counts: async () => {
      // Reading the page starts the next period of the delay, so this is first.
      const page = await (await fetch(`${operator.url}/metrics`)).text()
      const { byKind } = await callsOf(operator)
      const [, delay] = /event_loop_delay_seconds\{quantile="0.99"\} (\S+)/.exec(page) ?? []
      return {
        statusWrites: byKind.get('patch TrainingJob') ?? 0,
        tokenReviews: byKind.get('create TokenReview') ?? 0,
        delayP99: Number(delay),
      }
    },
    stop: async () => {
      await operator.stop()
      await rm(directory, { recursive: true })
    },
  }
}
