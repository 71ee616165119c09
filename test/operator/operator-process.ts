/** The operator as users run it: the process `src/main.ts operator`. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { freePorts } from '../../testenv/ports.ts'
import { until } from '../timing/until.ts'

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'main.ts')
const RECORDER = join(import.meta.dirname, '..', 'client', 'record-requests.ts')

export interface OperatorProcess {
  readonly pid: number
  readonly url: string
  /** Everything that it has logged, unless `onOutput` is set. */
  readonly log: () => string
  readonly isRunning: () => boolean
  /** Resolves when it has ended. */
  readonly ended: Promise<unknown>
  signal(name: 'SIGSTOP' | 'SIGCONT'): void
  /** Sends SIGTERM. Resolves with the exit code. */
  stop(): Promise<number | null>
}

export interface OperatorProcessOptions {
  /** Modules to preload. */
  readonly imports?: readonly string[]
  /** Receives its output instead of `log`, for runs with too much output to keep. */
  readonly onOutput?: (chunk: Buffer) => void
  /** Added to the environment of this process. */
  readonly env?: NodeJS.ProcessEnv
  /** The entry point of another release. Its calls are not recorded. */
  readonly main?: string
  /** Publishes its Service as the address of the webhook, as in a cluster, and not its URL. */
  readonly publishesService?: boolean
}

interface Ports {
  readonly port: number
  readonly webhookPort: number
}

/** The arguments of Node: preloaded modules, the program and its flags. */
function commandOf(
  kubeconfig: string,
  { port, webhookPort }: Ports,
  { imports = [], main, publishesService = false }: OperatorProcessOptions,
): string[] {
  const modules = [...(main === undefined ? [RECORDER] : []), ...imports]
  return [
    ...modules.flatMap((module) => ['--import', module]),
    main ?? MAIN,
    'operator',
    `--kubeconfig=${kubeconfig}`,
    `--port=${port}`,
    `--webhook-port=${webhookPort}`,
    ...(publishesService ? [] : [`--webhook-url=https://127.0.0.1:${webhookPort}/convert`]),
    '--lease-namespace=default',
  ]
}

export async function startOperatorProcess(
  kubeconfig: string,
  flags: readonly string[] = [],
  options: OperatorProcessOptions = {},
): Promise<OperatorProcess> {
  const { onOutput, env } = options
  const [port = 0, webhookPort = 0] = await freePorts(2)
  const command = [...commandOf(kubeconfig, { port, webhookPort }, options), ...flags]
  const child = spawn(process.execPath, command, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  const exited = once(child, 'exit')
  const lines: Buffer[] = []
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', onOutput ?? ((chunk: Buffer) => lines.push(chunk)))
  const log = (): string => Buffer.concat(lines).toString()
  const url = `http://127.0.0.1:${port}`
  await until('the operator to be ready', async () => {
    if (child.exitCode !== null) throw new Error(`the operator ended: ${log()}`)
    return (await fetch(`${url}/readyz`)).ok
  })
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null
  const signal = (name: 'SIGSTOP' | 'SIGCONT'): void => void child.kill(name)
  return { pid: child.pid ?? 0, url, log, isRunning, ended: exited, signal, stop: () => terminate(child) }
}

async function terminate(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    const exit = once(child, 'exit')
    child.kill('SIGTERM')
    await exit
  }
  return child.exitCode
}
