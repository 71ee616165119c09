/**
 * `ml-operator agent router`: runs beside Envoy in every router pod. On termination it runs as long as Envoy does, so
 * that the last requests are still routed and counted.
 */
import { lookup } from 'node:dns/promises'
import { type FSWatcher, watch } from 'node:fs'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { REPORT_PORT } from '../../api/router-report.ts'
import { ROUTER_FILES } from '../../api/router-wire.ts'
import { type Flags, UsageError, parseInteger } from '../../command/flags.ts'
import type { AgentCommand } from '../commands.ts'
import { Addresses } from './addresses.ts'
import { envoyAdmin } from './admin.ts'
import { Bell } from './bell.ts'
import { servePages } from './pages.ts'
import { Leaving } from './leaving.ts'
import { Router } from './router.ts'
import { TrafficCounters } from './traffic-counters.ts'

const flags = {
  route: { value: 'FILE', help: 'file with the route; may be empty' },
  'initial-route': { value: 'FILE', help: 'file with the route to use while --route is empty' },
  directory: { value: 'DIRECTORY', help: 'directory that is shared with Envoy' },
  port: { value: 'PORT', default: String(REPORT_PORT), help: 'for /report, /metrics and /readyz' },
  prepare: { help: 'write the files that Envoy needs to start, and exit' },
} as const satisfies Flags

/** Interval of checks of Envoy. A changed route and a start of Envoy are noticed at once. */
const POLL_MS = 500

export const routerCommand: AgentCommand = {
  flags,
  run: async ({ flags: given, signal }) => {
    const files = [given['route'], given['initial-route']].filter((file) => typeof file === 'string')
    const { directory } = given
    if (files.length === 0 || typeof directory !== 'string')
      throw new UsageError('--route and --directory are required')
    const ask = envoyAdmin(join(directory, ROUTER_FILES.socket))
    const router = new Router({
      ask,
      addresses: new Addresses({ lookup: async (host) => (await lookup(host)).address, now: () => performance.now() }),
      counters: new TrafficCounters(),
      readRoutes: () => Promise.all(files.map(readIfExists)),
      write: (file, text) => replaceFile(join(directory, ROUTER_FILES[file]), text),
      startedAt: Date.now(),
      now: () => performance.now(),
      log,
    })
    if (given['prepare'] === true) {
      await router.prepare()
      return 0
    }
    const leaving = new Leaving({ ask, file: join(directory, ROUTER_FILES.leave), log })
    const pages = await servePages(parseInteger('port', String(given['port']), 0, 65_535), router)
    await follow(router, leaving, { files: [...files, join(directory, ROUTER_FILES.socket)], signal })
    await pages.close()
    return 0
  },
}

const log = (message: string): void => void process.stderr.write(`${new Date().toISOString()} router: ${message}\n`)

/** Atomic: Envoy never reads a part of a file. */
async function replaceFile(file: string, text: string): Promise<void> {
  if ((await readIfExists(file)) === text) return
  await writeFile(`${file}.new`, text)
  await rename(`${file}.new`, file)
}

/** A missing file counts as empty: it may appear later. */
async function readIfExists(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}

interface Following {
  readonly files: readonly string[]
  readonly signal: AbortSignal
}

async function follow(router: Router, leaving: Leaving, { files, signal }: Following): Promise<void> {
  const bell = new Bell()
  const watchers = watchDirectories(files, () => bell.ring())
  signal.addEventListener('abort', () => bell.ring())
  try {
    do {
      await router.sync()
      await leaving.check()
      if (!signal.aborted || router.isReachable) await bell.rung(POLL_MS)
    } while (!signal.aborted || router.isReachable)
  } finally {
    for (const watcher of watchers) watcher.close()
  }
}

/**
 * Watches directories, not files: Kubernetes replaces a link beside the file, and Envoy creates its socket again at every
 * start.
 */
function watchDirectories(files: readonly string[], notice: () => void): FSWatcher[] {
  return [...new Set(files.map(dirname))].flatMap((directory) => {
    try {
      return [watch(directory, notice).on('error', () => undefined)]
    } catch {
      return []
    }
  })
}
