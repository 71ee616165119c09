/**
 * `ml-operator agent router`: runs beside HAProxy in every router pod. Asked to end, it stays for as long as HAProxy
 * does: requests that are still under way are divided and counted to the last.
 */
import { lookup } from 'node:dns/promises'
import { type FSWatcher, watch } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { REPORT_PORT } from '../../api/router-report.ts'
import { REQUEST_LOG_PORT } from '../../api/router-wire.ts'
import { type Flags, UsageError, wholeNumber } from '../../command/flags.ts'
import type { AgentCommand } from '../commands.ts'
import { Addresses } from './addresses.ts'
import { Bell } from './bell.ts'
import { haproxySocket } from './haproxy-socket.ts'
import { servePages } from './pages.ts'
import { listenForRequests } from './request-log.ts'
import { Router } from './router.ts'
import { TrafficCounters } from './traffic-counters.ts'

const flags = {
  route: { value: 'FILE', help: 'the route, as the operator writes it; may be empty' },
  'initial-route': { value: 'FILE', help: 'the route while there is none' },
  socket: { value: 'PATH', help: 'where HAProxy takes orders' },
  port: { value: 'PORT', default: String(REPORT_PORT), help: 'for /report, /metrics and /readyz' },
  'log-port': {
    value: 'PORT',
    default: String(REQUEST_LOG_PORT),
    help: 'where HAProxy tells of requests, on loopback',
  },
} as const satisfies Flags

/** HAProxy is looked at this often; a route that changes and a HAProxy that starts are noticed at once. */
const LOOK_MS = 500

export const routerCommand: AgentCommand = {
  flags,
  run: async ({ flags: given, signal }) => {
    const files = [given['route'], given['initial-route']].filter((file) => typeof file === 'string')
    const { socket } = given
    if (files.length === 0 || typeof socket !== 'string') throw new UsageError('--route and --socket are needed')
    const counters = new TrafficCounters()
    const router = new Router({
      order: haproxySocket(socket),
      addresses: new Addresses({ lookup: async (host) => (await lookup(host)).address, now: () => performance.now() }),
      counters,
      readRoutes: () => Promise.all(files.map(contentOf)),
      startedAt: Date.now(),
      log: (message) => void process.stderr.write(`${new Date().toISOString()} router: ${message}\n`),
    })
    const requests = await listenForRequests(portIn(given, 'log-port'), (request) => counters.note(request))
    const pages = await servePages(portIn(given, 'port'), router)
    await follow(router, [...files, socket], signal)
    await Promise.all([pages.close(), requests.close()])
    return 0
  },
}

function portIn(given: Readonly<Record<string, string | boolean | undefined>>, name: 'port' | 'log-port'): number {
  return wholeNumber(name, String(given[name]), 0, 65_535)
}

/** An absent file is an empty one: it may be on its way. */
async function contentOf(file: string): Promise<string> {
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
      if (!signal.aborted || router.isReachable) await bell.rung(LOOK_MS)
    } while (!signal.aborted || router.isReachable)
  } finally {
    for (const watcher of watchers) watcher.close()
  }
}

/**
 * Kubernetes replaces a link beside the file, never the file itself, and a HAProxy that starts makes its socket anew: only
 * the directory tells of it.
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
