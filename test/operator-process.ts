/** The operator as users run it: `src/main.ts operator`, a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { freePorts } from '../testenv/ports.ts'
import { until } from './until.ts'

const MAIN = join(import.meta.dirname, '..', 'src', 'main.ts')
const RECORDER = join(import.meta.dirname, 'record-requests.ts')

export interface OperatorProcess {
  readonly url: string
  /** Everything it has logged. */
  readonly log: () => string
  /** SIGTERM; the exit code. */
  stop(): Promise<number | null>
}

export async function startOperatorProcess(
  kubeconfig: string,
  flags: readonly string[] = [],
): Promise<OperatorProcess> {
  const [port = 0, webhookPort = 0] = await freePorts(2)
  const own = [
    `--kubeconfig=${kubeconfig}`,
    `--port=${port}`,
    `--webhook-port=${webhookPort}`,
    `--webhook-url=https://127.0.0.1:${webhookPort}/convert`,
    '--lease-namespace=default',
  ]
  const command = ['--import', RECORDER, MAIN, 'operator', ...own, ...flags]
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'pipe'] })
  const lines: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => lines.push(chunk))
  const log = (): string => Buffer.concat(lines).toString()
  const url = `http://127.0.0.1:${port}`
  await until('the operator to be ready', async () => {
    if (child.exitCode !== null) throw new Error(`the operator ended: ${log()}`)
    return (await fetch(`${url}/readyz`)).ok
  })
  return { url, log, stop: () => ended(child) }
}

async function ended(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    const exit = once(child, 'exit')
    child.kill('SIGTERM')
    await exit
  }
  return child.exitCode
}
