/**
 * Generated objects for the operator process, beside healthy neighbours, in parallel batches. The operator must stay alive and
 * responsive; each batch judges its objects. Finished batches are recorded in the state file, if there is one, and not run
 * again.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { modelDeployments, trainingJobs } from '../../src/api/kinds.ts'
import { type Client, createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import { Namespace } from '../../src/kube/resources.ts'
import { median } from '../../scripts/bench/median.ts'
import { installApi } from '../cluster/api.ts'
import { Semaphore } from '../timing/semaphore.ts'
import { modelDeployment } from '../builders/model-deployment.ts'
import { trainingJob } from '../builders/training-job.ts'
import { crdSchemas } from './crd-schemas.ts'
import { Neighbours } from './neighbours.ts'
import { type BatchOutcome, limitedNamespace, runBatch } from './poison-batch.ts'
import { type Poison, poisonObject } from './poison.ts'
import { WatchedOperator } from './watched-operator.ts'

export interface PoisonOptions {
  readonly objects: number
  readonly seed: number
  readonly kubeconfig: string
  /** Where finished batches are recorded, so that a campaign can be continued. */
  readonly stateFile?: string
  readonly onProgress?: (line: string) => void
  /** Called with the message of every rejection. */
  readonly onRejected?: (message: string) => void
}

export interface PoisonReport {
  readonly objects: number
  readonly accepted: number
  /** Rejected by rules over several fields, which the generator does not always respect. */
  readonly rejected: number
  readonly exits: number
  readonly reconciles: number
  /** The longest callback, in milliseconds of CPU time; 0 if none was above 50. */
  readonly longestTurnMs: number
  /** Median times until a healthy job had its pod, beside healthy objects and beside generated ones. */
  readonly neighbourMs: number
  readonly neighbourMsBesidePoison: number
  readonly violations: readonly string[]
}

const BATCH = 25
/** Batches that run in parallel, generated or healthy. */
const LANES = 4
/** Failed reconciles of one object within a minute or two; backoff allows about ten. */
const HOT = 25
const HELD_MS = 100
/** Medians below this are noise. */
const NOISE_MS = 250

type Task = () => Promise<unknown>

interface BatchRecord extends BatchOutcome {
  readonly from: number
  readonly size: number
}

export async function poisonCampaign(options: PoisonOptions): Promise<PoisonReport> {
  const { kubeconfig } = options
  const client = createClient(await configFromKubeconfig(kubeconfig))
  await installApi(client)
  const operator = await WatchedOperator.start(kubeconfig)
  try {
    return await new Campaign(client, operator, options).run()
  } finally {
    await operator.stop()
    await client.close()
  }
}

class Campaign {
  readonly #client: Client
  readonly #operator: WatchedOperator
  readonly #options: PoisonOptions
  readonly #records: BatchRecord[]

  constructor(client: Client, operator: WatchedOperator, options: PoisonOptions) {
    this.#client = client
    this.#operator = operator
    this.#options = options
    this.#records = recordsIn(options.stateFile)
  }

  async run(): Promise<PoisonReport> {
    const home = await limitedNamespace(this.#client, 'neighbours')
    const neighbours = new Neighbours(this.#client, home)
    try {
      return await this.#inRounds(neighbours, await this.#poisonTasks())
    } finally {
      await neighbours.stop()
      await this.#client.delete(Namespace, { name: home })
    }
  }

  /** Rounds of generated objects alternate with rounds of healthy ones, so other load on the machine slows down both. */
  async #inRounds(neighbours: Neighbours, tasks: readonly Task[]): Promise<PoisonReport> {
    const rounds = Math.max(2, Math.min(8, Math.floor(tasks.length / LANES / 4)))
    const size = Math.ceil(tasks.length / rounds)
    const beside: { readonly calm: number[]; readonly poison: number[] } = { calm: [], poison: [] }
    for (let round = 0; round < rounds; round += 1) {
      await this.#inLanes(Array.from({ length: LANES }, () => () => this.#batch(BATCH, healthy)))
      beside.calm.push(...neighbours.take())
      await this.#inLanes(tasks.slice(round * size, (round + 1) * size))
      beside.poison.push(...neighbours.take())
    }
    return this.#report(median(beside.calm), median(beside.poison))
  }

  async #poisonTasks(): Promise<readonly Task[]> {
    const { objects, seed } = this.#options
    const schemas = await crdSchemas()
    const done = new Set(this.#records.map(({ from }) => from))
    const starts = Array.from({ length: Math.ceil(objects / BATCH) }, (_, index) => index * BATCH)
    return starts
      .filter((from) => !done.has(from))
      .map((from) => async () => {
        const size = Math.min(BATCH, objects - from)
        const make = (index: number, namespace: string): Poison => poisonObject(schemas, seed, from + index, namespace)
        this.#record({ from, size, ...(await this.#batch(size, make)) })
        if (!this.#operator.isRunning) throw new Error(`the operator ended:\n${this.#operator.tail.join('\n')}`)
      })
  }

  async #inLanes(tasks: readonly Task[]): Promise<void> {
    const slots = new Semaphore(LANES)
    await Promise.all(tasks.map((task) => slots.run(task)))
  }

  #batch(size: number, make: (index: number, namespace: string) => Poison): Promise<BatchOutcome> {
    const { onRejected } = this.#options
    const deps = { client: this.#client, isRunning: () => this.#operator.isRunning, ...(onRejected && { onRejected }) }
    return runBatch(deps, (namespace) => Array.from({ length: size }, (_, index) => make(index, namespace)))
  }

  #record(record: BatchRecord): void {
    const { objects, stateFile, onProgress } = this.#options
    this.#records.push(record)
    if (stateFile !== undefined) appendFileSync(stateFile, `${JSON.stringify(record)}\n`)
    for (const violation of record.violations) onProgress?.(`violation: batch from ${record.from}: ${violation}`)
    const longest = Math.max(0, ...this.#operator.held).toFixed(0)
    const found = `${this.#violations.length} violations, longest turn ${longest} ms`
    onProgress?.(`poison: ${this.#sum(({ size }) => size)} of ${objects} objects, ${found}`)
  }

  get #violations(): string[] {
    return this.#records.flatMap(({ from, violations }) => violations.map((text) => `batch from ${from}: ${text}`))
  }

  #sum(count: (record: BatchRecord) => number): number {
    return this.#records.reduce((sum, record) => sum + count(record), 0)
  }

  async #report(baseline: number, beside: number): Promise<PoisonReport> {
    const longestTurnMs = Math.max(0, ...this.#operator.held)
    const hot = [...this.#operator.failures].filter(([, count]) => count > HOT)
    const violations = [...this.#violations, ...hot.map(([key, count]) => `${key} failed ${count} times`)]
    if (longestTurnMs > HELD_MS) violations.push(`the event loop was held for ${longestTurnMs.toFixed(0)} ms`)
    if (beside > 2 * Math.max(baseline, NOISE_MS))
      violations.push(`neighbours waited ${beside.toFixed(0)} ms for their pods, ${baseline.toFixed(0)} ms before`)
    return {
      objects: this.#sum(({ size }) => size),
      accepted: this.#sum(({ accepted }) => accepted),
      rejected: this.#sum(({ rejected }) => rejected),
      exits: this.#operator.isRunning ? 0 : 1,
      reconciles: await this.#operator.reconciles(),
      longestTurnMs,
      neighbourMs: baseline,
      neighbourMsBesidePoison: beside,
      violations,
    }
  }
}

function recordsIn(file: string | undefined): BatchRecord[] {
  if (file === undefined || !existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  return lines.map((line) => JSON.parse(line) as BatchRecord)
}

function healthy(index: number, namespace: string): Poison {
  if (index % 2 === 0) return { resource: trainingJobs, object: trainingJob(namespace, `calm-${index}`) }
  return { resource: modelDeployments, object: modelDeployment(namespace, `calm-${index}`) }
}
