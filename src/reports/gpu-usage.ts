/**
 * The utilization of GPUs by pod, from the exporters on the nodes of running jobs. Each node is read once a minute, by the
 * leader, however many jobs have pods on it. A page that cannot be read has no values.
 */
import type { ObjectKey } from '../kube/object.ts'
import { readPage } from '../net/page.ts'
import { type Clock, type Logger, pause, spread } from '../runtime/index.ts'
import { parseGpuPage, podKey } from './gpu-page.ts'
import { Turns } from './turns.ts'

export interface GpuUsageOptions {
  /** Of the exporter, on every node; 0: none is read. */
  readonly port: number
  readonly clock: Clock
  readonly log: Pick<Logger, 'debug'>
  readonly intervalMs?: number
  readonly maxRunning?: number
}

interface Node {
  readonly stop: AbortController
  readonly jobs: Map<string, ObjectKey>
  usage: ReadonlyMap<string, number>
}

const INTERVAL_MS = 60_000
const JITTER = 0.2
const PATH = '/metrics'
const LIMITS = { maxBytes: 4 * 1024 * 1024, timeoutMs: 3_000 }

export class GpuUsage {
  readonly #options: Required<GpuUsageOptions>
  readonly #turns: Turns
  /** By address. */
  readonly #nodes = new Map<string, Node>()
  #wake: (key: ObjectKey) => void = () => undefined

  constructor(options: GpuUsageOptions) {
    this.#options = { intervalMs: INTERVAL_MS, maxRunning: 8, ...options }
    this.#turns = new Turns(this.#options.maxRunning)
  }

  get size(): number {
    return this.#nodes.size
  }

  /** `wake` is called with the jobs of a node that was read. */
  onRead(wake: (key: ObjectKey) => void): void {
    this.#wake = wake
  }

  /** The addresses of the nodes whose GPUs the job uses now. */
  follow(job: { readonly key: ObjectKey; readonly uid: string }, addresses: readonly string[]): void {
    if (this.#options.port === 0) return
    for (const [address, { jobs }] of this.#nodes)
      if (jobs.has(job.uid) && !addresses.includes(address)) this.#leave(address, job.uid)
    for (const address of addresses) {
      const node = this.#nodes.get(address) ?? this.#begin(address)
      node.jobs.set(job.uid, job.key)
    }
  }

  forget(jobUid: string): void {
    for (const address of this.#nodes.keys()) this.#leave(address, jobUid)
  }

  /** Average of the GPUs of a pod in percent, if it is known. */
  of(namespace: string, pod: string, address: string | undefined): number | undefined {
    return this.#nodes.get(address ?? '')?.usage.get(podKey(namespace, pod))
  }

  close(): void {
    for (const { stop } of this.#nodes.values()) stop.abort()
    this.#nodes.clear()
  }

  #leave(address: string, jobUid: string): void {
    const node = this.#nodes.get(address)
    if (!node?.jobs.delete(jobUid) || node.jobs.size > 0) return
    node.stop.abort()
    this.#nodes.delete(address)
  }

  #begin(address: string): Node {
    const node: Node = { stop: new AbortController(), jobs: new Map(), usage: new Map() }
    this.#nodes.set(address, node)
    void this.#poll(address, node)
    return node
  }

  async #poll(ip: string, node: Node): Promise<void> {
    const { clock, intervalMs } = this.#options
    const { signal } = node.stop
    while (!signal.aborted) {
      node.usage = await this.#read(ip, signal)
      for (const key of node.jobs.values()) if (!signal.aborted) this.#wake(key)
      await pause(clock, spread(intervalMs, JITTER, Math.random()), signal)
    }
  }

  async #read(ip: string, signal: AbortSignal): Promise<ReadonlyMap<string, number>> {
    const done = await this.#turns.take(signal)
    if (!done) return new Map()
    try {
      return parseGpuPage(await readPage({ ip, port: this.#options.port, path: PATH }, { ...LIMITS, signal }))
    } catch (error) {
      if (!signal.aborted) this.#options.log.debug({ err: error, ip }, 'cannot read the GPU metrics of a node')
      return new Map()
    } finally {
      done()
    }
  }
}
