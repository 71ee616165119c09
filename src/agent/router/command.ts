/**
 * `ml-operator agent router`: runs beside HAProxy in every router pod. On termination it runs as long as HAProxy does, so
 * that the last requests are still routed and counted.
 */
import { lookup } from 'node:dns/promises'
import { type FSWatcher, watch } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { REPORT_PORT } from '../../api/router-report.ts'
import { REQUEST_LOG_PORT } from '../../api/router-wire.ts'
import { type Flags, UsageError, parseInteger } from '../../command/flags.ts'
import type { AgentCommand } from '../commands.ts'
import { Addresses } from './addresses.ts'
import { Bell } from './bell.ts'
import { haproxySocket } from './haproxy-socket.ts'
import { servePages } from './pages.ts'
import { listenForRequests } from './request-log.ts'
import { Router } from './router.ts'
import { TrafficCounters } from './traffic-counters.ts'

const flags = {
  route: { value: 'FILE', help: 'file with the route; may be empty' },
  'initial-route': { value: 'FILE', help: 'file with the route to use while --route is empty' },
  socket: { value: 'PATH', help: 'runtime socket of HAProxy' },
  port: { value: 'PORT', default: String(REPORT_PORT), help: 'for /report, /metrics and /readyz' },
  'log-port': {
    value: 'PORT',
    default: String(REQUEST_LOG_PORT),
    help: 'loopback port for the request log of HAProxy',
  },
} as const satisfies Flags

/** Interval of checks of HAProxy. A changed route and a start of HAProxy are noticed at once. */
const POLL_MS = 500

export const routerCommand: AgentCommand = {
  flags,
  run: async ({ flags: given, signal }) => {
    const files = [given['route'], given['initial-route']].filter((file) => typeof file === 'string')
    const { socket } = given
    if (files.length === 0 || typeof socket !== 'string') throw new UsageError('--route and --socket are required')
    const counters = new TrafficCounters()
    const router = new Router({
      run: haproxySocket(socket),
      addresses: new Addresses({ lookup: async (host) => (await lookup(host)).address, now: () => performance.now() }),
      counters,
      readRoutes: () => Promise.all(files.map(readIfExists)),
      startedAt: Date.now(),
      log: (message) => void process.stderr.write(`${new Date().toISOString()} router: ${message}\n`),
    })
    const requests = await listenForRequests(parsePort(given, 'log-port'), (request) => counters.note(request))
    const pages = await servePages(parsePort(given, 'port'), router)
    await follow(router, [...files, socket], signal)
    await Promise.all([pages.close(), requests.close()])
    return 0
  },
}

function parsePort(given: Readonly<Record<string, string | boolean | undefined>>, name: 'port' | 'log-port'): number {
  return parseInteger(name, String(given[name]), 0, 65_535)
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

async function follow(router: Router, files: readonly string[], signal: AbortSignal): Promise<void> {
  const bell = new Bell()
  const watchers = watchDirectories(files, () => bell.ring())
  signal.addEventListener('abort', () => bell.ring())
  try {
    do {
      await router.sync()
      if (!signal.aborted || router.isReachable) await bell.rung(POLL_MS)
    } while (!signal.aborted || router.isReachable)
  } finally {
    for (const watcher of watchers) watcher.close()
  }
}

/**
 * Watches directories, not files: Kubernetes replaces a link beside the file, and HAProxy creates its socket again at
 * every start.
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
