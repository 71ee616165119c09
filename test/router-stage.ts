/** A router on this machine, without Kubernetes: HAProxy from its image, the agent beside it, versions to send to. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext } from 'node:test'
import { haproxyImage } from '../images/haproxy.ts'
import type { RouteEntry, RouterReport } from '../src/api/router-report.ts'
import { haproxyConfig } from '../src/plan/traffic/haproxy-config.ts'
import { runCommand } from '../testenv/command.ts'
import { debianLayer } from '../testenv/debian-layer.ts'
import { freePorts } from '../testenv/ports.ts'
import { until } from './until.ts'

const MAIN = join(import.meta.dirname, '..', 'src', 'main.ts')
const VERSION = join(import.meta.dirname, 'fixtures', 'version-server.ts')

let root: Promise<string> | undefined

// At the root of the file: a hook asked for inside another hook would run at that one's end.
after(async () => {
  if (root) await rm(await root, { recursive: true, force: true })
})

/** The file system of HAProxy's image. `HAPROXY` names a program of this machine to run instead. */
async function imageRoot(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'haproxy-'))
  const layer = await debianLayer(haproxyImage().packages ?? [])
  await runCommand(['tar', '--extract', '--file', layer, '--directory', directory])
  return directory
}

/** Percent, by version. */
type Weights = readonly (readonly [version: string, weight: number])[]

export interface RouterStage {
  /** Where clients send. */
  readonly url: string
  readonly haproxy: Running
  readonly agent: Running
  /** As Kubernetes does it: a new directory, and a link that is replaced. */
  readonly write: (weights: Weights) => Promise<void>
  /** Writes the route and waits until it is in effect; gives the milliseconds it took. */
  readonly turn: (weights: Weights) => Promise<number>
  readonly version: (name: string) => Promise<Running>
  readonly report: () => Promise<RouterReport>
  readonly page: (path: string) => Promise<{ readonly status: number; readonly text: string }>
}

export interface Running {
  readonly pid: number
  readonly log: () => string
  isRunning(): boolean
  kill(signal?: NodeJS.Signals): Promise<number | null>
  restart(): Promise<void>
}

export async function routerStage(t: TestContext): Promise<RouterStage> {
  const [port = 0, logPort = 0, pagePort = 0] = await freePorts(3)
  const directory = await mkdtemp(join(tmpdir(), 'router-'))
  const start = starter(t, directory)
  const socket = join(directory, 'haproxy.sock')
  const haproxy = await start(await haproxyCommand(directory, haproxyConfig({ port, socket, logPort })))
  const route = join(directory, 'route')
  await mkdir(route)
  const flags = [`--route=${join(route, 'route')}`, `--socket=${socket}`, `--port=${pagePort}`, `--log-port=${logPort}`]
  const agent = await start([process.execPath, MAIN, 'agent', 'router', ...flags])
  const page = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${pagePort}${path}`)
    return { status: response.status, text: await response.text() }
  }
  const report = async () => JSON.parse((await page('/report')).text) as RouterReport
  const ports = new Map<string, number>()
  const write = (weights: Weights): Promise<void> =>
    replace(
      route,
      weights.map(([version, weight]) => ({ version, weight, address: `localhost:${ports.get(version)}` })),
    )
  const turn = async (weights: Weights): Promise<number> => {
    const from = Date.now()
    await write(weights)
    await until(`${JSON.stringify(weights)} to be in effect`, async () => isDivided(await report(), weights))
    return Date.now() - from
  }
  const version = async (name: string): Promise<Running> => {
    const [own = 0] = await freePorts(1)
    ports.set(name, own)
    const server = await start([process.execPath, VERSION, name, String(own)])
    await until(`${name} to listen`, () => server.log().includes('ready'))
    return server
  }
  await until('the agent to listen', async () => (await page('/healthz')).status === 200)
  return { url: `http://127.0.0.1:${port}`, haproxy, agent, write, turn, version, report, page }
}

/** Starts programs that end with the test. */
function starter(t: TestContext, directory: string): (command: readonly string[]) => Promise<Running> {
  const children: Running[] = []
  t.after(async () => {
    await Promise.all(children.map((child) => child.kill('SIGKILL')))
    await rm(directory, { recursive: true })
  })
  return async (command) => {
    const running = await started(command)
    children.push(running)
    return running
  }
}

function isDivided({ versions }: RouterReport, weights: Weights): boolean {
  const shown = new Map(versions.map(({ version, weight }) => [version, weight]))
  return shown.size === weights.length && weights.every(([version, weight]) => shown.get(version) === weight)
}

async function haproxyCommand(directory: string, config: string): Promise<string[]> {
  const file = join(directory, 'haproxy.cfg')
  await writeFile(file, config)
  const own = process.env['HAPROXY']
  if (own !== undefined) return [own, '-db', '-f', file]
  root ??= imageRoot()
  const inside = join(await root, directory)
  await mkdir(inside, { recursive: true })
  await writeFile(join(inside, 'haproxy.cfg'), config)
  await rm(directory, { recursive: true })
  await symlink(inside, directory)
  return ['chroot', await root, 'haproxy', '-db', '-f', file]
}

/** What the kubelet does with files that belong together. */
async function replace(directory: string, route: readonly RouteEntry[]): Promise<void> {
  const version = await mkdtemp(join(directory, '..version-'))
  await writeFile(join(version, 'route'), JSON.stringify(route))
  await symlink(version, join(directory, '..data_tmp'))
  await rename(join(directory, '..data_tmp'), join(directory, '..data'))
  await symlink(join('..data', 'route'), join(directory, 'route')).catch(() => undefined)
}

async function started(command: readonly string[]): Promise<Running> {
  const chunks: Buffer[] = []
  let child: ChildProcess
  const start = async (): Promise<void> => {
    const [program = '', ...args] = command
    child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => chunks.push(chunk))
    await once(child, 'spawn')
  }
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null
  const kill = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> => {
    if (isRunning()) {
      const exit = once(child, 'exit')
      child.kill(signal)
      await exit
    }
    return child.exitCode
  }
  await start()
  return {
    get pid() {
      return child.pid ?? 0
    },
    log: () => Buffer.concat(chunks).toString(),
    isRunning,
    kill,
    restart: async () => {
      await kill('SIGKILL')
      await start()
    },
  }
}
