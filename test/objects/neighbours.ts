/** Creates healthy jobs one after the other beside other load, and measures the time until each has its pod. */
import { trainingJobs } from '../../src/api/kinds.ts'
import type { Client } from '../../src/kube/client.ts'
import { keyOf } from '../../src/kube/object.ts'
import { Pod } from '../../src/kube/resources.ts'
import { watch } from '../../src/kube/watch.ts'
import { trainingJob } from '../builders/training-job.ts'

const PATIENCE_MS = 60_000

export class Neighbours {
  #latencies: number[] = []
  readonly #client: Client
  readonly #namespace: string
  readonly #stop = new AbortController()
  readonly #waiting = new Map<string, () => void>()
  readonly #ended: Promise<unknown>
  #count = 0

  constructor(client: Client, namespace: string) {
    this.#client = client
    this.#namespace = namespace
    this.#ended = Promise.all([this.#follow(), this.#createJobs()])
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#ended
  }

  /** Milliseconds from the creation of a job until its pod exists, for each job since the last call. */
  take(): readonly number[] {
    const latencies = this.#latencies
    this.#latencies = []
    return latencies
  }

  async #createJobs(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const name = `neighbour-${(this.#count += 1)}`
      const appears = this.#podOf(name)
      const job = await this.#client.create(
        trainingJobs,
        trainingJob(this.#namespace, name, { numWorkers: 1, checkpoint: { enabled: false } }),
      )
      const began = performance.now()
      await appears
      this.#latencies.push(performance.now() - began)
      await this.#client.delete(trainingJobs, keyOf(job))
    }
  }

  #podOf(name: string): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer)
        this.#waiting.delete(name)
        resolve()
      }
      const timer = setTimeout(done, PATIENCE_MS)
      this.#waiting.set(name, done)
      this.#stop.signal.addEventListener('abort', done, { once: true })
    })
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stop
    for await (const update of watch(this.#client, Pod, { namespace: this.#namespace, signal }))
      if (update.type === 'apply') this.#waiting.get(update.object.metadata.name.replace(/-workers-\d+$/, ''))?.()
  }
}
