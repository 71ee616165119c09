/**
 * Compares proxies for the built-in router on loopback: the same two versions and the same load, directly, through HAProxy
 * and through Envoy. Prints latency, CPU per request, memory, and requests lost while weights change and the proxy restarts.
 *
 * HAPROXY=/usr/sbin/haproxy ENVOY=/usr/local/bin/envoy node test/proxies/measure.ts
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Pool } from 'undici'
import { envoyAdmin } from '../../src/agent/router/admin.ts'
import { parseEffect, SHOW_CONFIG } from '../../src/agent/router/effect.ts'
import { clustersOf, endpointsOf, routesOf } from '../../src/agent/router/resources.ts'
import { envoyConfig } from '../../src/plan/traffic/providers/router/envoy-config.ts'

const RATE = 400
const SECONDS = 15
const CLIENTS = 16
const CHANGES = 20
const PORTS = { v1: 19_101, v2: 19_102, proxy: 19_100 }
const TICKS_PER_SECOND = 100

interface Proxy {
  readonly command: readonly string[]
  /** Resolves with the milliseconds until the weight is in effect. */
  setWeight(first: number): Promise<number>
}

const haproxyConfig = (socket: string): string => `global
  stats socket ${socket} mode 600 level admin
  nbthread 1
defaults
  mode http
  timeout connect 500ms
  timeout client 60s
  timeout server 60s
  retries 10
  retry-on conn-failure
  option redispatch 1
frontend model
  bind 127.0.0.1:${PORTS.proxy}
  default_backend versions
backend versions
  balance roundrobin
  option http-server-close
  server v1 127.0.0.1:${PORTS.v1} weight 50
  server v2 127.0.0.1:${PORTS.v2} weight 50
`

async function haproxy(directory: string, binary: string): Promise<Proxy> {
  const socket = join(directory, 'haproxy.sock')
  const file = join(directory, 'haproxy.cfg')
  await writeFile(file, haproxyConfig(socket))
  const order = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      let answer = ''
      const call = connect(socket, () => call.end(`${text}\n`))
      call.on('data', (chunk) => (answer += String(chunk)))
      call.on('end', () => resolve(answer))
      call.on('error', reject)
    })
  return {
    command: [binary, '-db', '-f', file],
    setWeight: async (first) => {
      const from = performance.now()
      await order(`set server versions/v1 weight ${first}; set server versions/v2 weight ${100 - first}`)
      while (!(await order('show servers state versions')).includes(` ${first} `)) await delay(1)
      return performance.now() - from
    },
  }
}

async function envoy(directory: string, binary: string): Promise<Proxy> {
  const write = async (name: string, text: string): Promise<void> => {
    await writeFile(join(directory, `${name}.new`), text)
    await rename(join(directory, `${name}.new`), join(directory, name))
  }
  const targetOf = (first: number) => ({
    destinations: [
      { version: 'v1', ip: '127.0.0.1', port: PORTS.v1, weight: first },
      { version: 'v2', ip: '127.0.0.1', port: PORTS.v2, weight: 100 - first },
    ],
    rules: {},
  })
  await write('clusters.json', clustersOf(targetOf(50)).text)
  await write('routes.json', routesOf(targetOf(50)).text)
  await write('endpoints.json', endpointsOf(targetOf(50).destinations).text)
  const config = join(directory, 'envoy.json')
  await writeFile(config, envoyConfig({ port: PORTS.proxy, directory, host: '127.0.0.1' }))
  const ask = envoyAdmin(join(directory, 'admin.sock'))
  return {
    command: [binary, '--concurrency', '1', '--disable-hot-restart', '--log-level', 'error', '--config-path', config],
    setWeight: async (first) => {
      const from = performance.now()
      await write('endpoints.json', endpointsOf(targetOf(first).destinations).text)
      while (parseEffect(await ask('GET', SHOW_CONFIG)).weights.get('v1') !== first) await delay(1)
      return performance.now() - from
    },
  }
}

async function start(command: readonly string[]): Promise<ChildProcess> {
  const [program = '', ...args] = command
  const child = spawn(program, args, { stdio: 'ignore' })
  await once(child, 'spawn')
  return child
}

async function stop(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit
}

async function listens(port: number): Promise<void> {
  for (let tries = 0; tries < 500; tries += 1) {
    const isOpen = await fetch(`http://127.0.0.1:${port}/`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isOpen) return
    await delay(20)
  }
  throw new Error(`nothing answers on port ${port}`)
}

interface Load {
  readonly p50: number
  readonly p99: number
  readonly failed: number
  readonly total: number
}

/** A constant rate, so that latencies do not depend on the throughput. */
async function load(port: number, seconds: number): Promise<Load> {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: CLIENTS, pipelining: 1 })
  const took: number[] = []
  let failed = 0
  const from = performance.now()
  const total = RATE * seconds
  const one = async (number: number): Promise<void> => {
    const at = from + (number * 1_000) / RATE
    await delay(Math.max(0, at - performance.now()))
    const sentAt = performance.now()
    try {
      const { statusCode, body } = await pool.request({ path: '/', method: 'POST', body: '{"features":[1,2]}' })
      await body.dump()
      if (statusCode !== 200) failed += 1
      took.push(performance.now() - sentAt)
    } catch {
      failed += 1
    }
  }
  await Promise.all(Array.from({ length: total }, (_, number) => one(number)))
  await pool.close()
  const sorted = took.toSorted((a, b) => a - b)
  const quantile = (part: number): number => sorted[Math.floor(part * (sorted.length - 1))] ?? 0
  return { p50: quantile(0.5), p99: quantile(0.99), failed, total }
}

async function usage({ pid }: ChildProcess): Promise<{ readonly cpuSeconds: number; readonly rssMb: number }> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? []
  const rss = /VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]
  return { cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND, rssMb: Number(rss) / 1_024 }
}

async function measure(name: string, make: (directory: string) => Promise<Proxy>, direct: Load): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'proxies-'))
  const proxy = await make(directory)
  let child = await start(proxy.command)
  try {
    await listens(PORTS.proxy)
    const before = await usage(child)
    const quiet = await load(PORTS.proxy, SECONDS)
    const after = await usage(child)
    const changes: number[] = []
    const changed = load(PORTS.proxy, SECONDS)
    for (let index = 0; index < CHANGES; index += 1) {
      await delay((SECONDS * 1_000) / (CHANGES + 5))
      changes.push(await proxy.setWeight(index % 2 === 0 ? 90 : 10))
    }
    const duringChanges = await changed
    await stop(child)
    const from = performance.now()
    child = await start(proxy.command)
    await listens(PORTS.proxy)
    print(name, {
      'added p50 ms': (quiet.p50 - direct.p50).toFixed(2),
      'added p99 ms': (quiet.p99 - direct.p99).toFixed(2),
      'CPU ms per request': (((after.cpuSeconds - before.cpuSeconds) * 1_000) / quiet.total).toFixed(3),
      'RSS MB': after.rssMb.toFixed(0),
      'weight in effect, median ms': changes.toSorted((a, b) => a - b)[CHANGES / 2]?.toFixed(1) ?? '',
      'slowest ms': Math.max(...changes).toFixed(1),
      'lost in quiet': quiet.failed,
      [`lost in ${CHANGES} changes of weight`]: `${duringChanges.failed} of ${duringChanges.total}`,
      'restart until it answers, ms': Math.round(performance.now() - from),
    })
  } finally {
    await stop(child)
    await rm(directory, { recursive: true })
  }
}

const print = (name: string, figures: object): void =>
  void process.stdout.write(`${name}: ${JSON.stringify(figures, undefined, 1)}\n`)

async function main(): Promise<void> {
  const program = join(import.meta.dirname, '..', 'programs', 'version-server.ts')
  const servers = await Promise.all(
    (['v1', 'v2'] as const).map((name) => start([process.execPath, program, name, String(PORTS[name])])),
  )
  try {
    await Promise.all([listens(PORTS.v1), listens(PORTS.v2)])
    await load(PORTS.v1, 3)
    const direct = await load(PORTS.v1, SECONDS)
    print('direct', { 'p50 ms': direct.p50.toFixed(2), 'p99 ms': direct.p99.toFixed(2) })
    const { HAPROXY, ENVOY } = process.env
    if (HAPROXY !== undefined) await measure('HAProxy', (directory) => haproxy(directory, HAPROXY), direct)
    if (ENVOY !== undefined) await measure('Envoy', (directory) => envoy(directory, ENVOY), direct)
  } finally {
    await Promise.all(servers.map(stop))
  }
}

await main()
