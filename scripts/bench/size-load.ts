/** Many jobs and models at rest: jobs that have completed, and models of one version whose pods are available. */
import { modelDeployments, trainingJobs } from '../../src/api/kinds.ts'
import type { TrainingJob } from '../../src/api/trainingjob.v1.ts'
import { type Client, createClient } from '../../src/kube/client.ts'
import type { ClientConfig } from '../../src/kube/config.ts'
import { timestamp } from '../../src/plan/time.ts'
import { modelDeployment } from '../../test/builders/model-deployment.ts'
import { trainingJob } from '../../test/builders/training-job.ts'
import { bareNamespaces } from './serving-load.ts'

export interface Size {
  readonly jobs: number
  readonly models: number
}

const NAMESPACES = 20
const LANES = 16

export class SizeLoad {
  readonly #client: Client
  #namespaces: readonly string[] = []
  #size: Size = { jobs: 0, models: 0 }

  constructor(cluster: ClientConfig) {
    this.#client = createClient(cluster)
  }

  /** Creates what is missing. */
  async growTo(size: Size, signal: AbortSignal): Promise<void> {
    if (this.#namespaces.length === 0) this.#namespaces = await bareNamespaces(this.#client, 'size', NAMESPACES)
    const { jobs, models } = this.#size
    await inLanes(range(jobs, size.jobs), signal, (number) => this.#createJob(number))
    await inLanes(range(models, size.models), signal, (number) => this.#createModel(number))
    this.#size = size
  }

  async close(): Promise<void> {
    await this.#client.close()
  }

  #namespaceOf(number: number): string {
    return this.#namespaces[number % NAMESPACES] ?? ''
  }

  async #createJob(number: number): Promise<void> {
    const namespace = this.#namespaceOf(number)
    const name = `job-${number}`
    await this.#client.create(trainingJobs, trainingJob(namespace, name, SPEC))
    const status = completed(Date.now())
    await this.#client.patch(trainingJobs, { namespace, name }, { status }, { subresource: 'status' })
  }

  async #createModel(number: number): Promise<void> {
    const scaling = { minReplicas: 2, maxReplicas: 4 }
    const model = modelDeployment(this.#namespaceOf(number), `model-${number}`, { scaling })
    await this.#client.create(modelDeployments, model)
  }
}

const SPEC = {
  command: ['torchrun', 'train.py'],
  args: ['--lr=0.001', '--epochs=10'],
  hyperparameters: { learningRate: 0.001, batchSize: 64, epochs: 10 },
  checkpoint: { storage: { type: 's3', path: 's3://checkpoints/run' } },
  numWorkers: 4,
}

/** As the operator leaves a job that has reported its progress. */
function completed(now: number): NonNullable<TrainingJob['status']> {
  const end = timestamp(now)
  const start = timestamp(now - 3_600_000)
  const condition = (type: string, status: 'True' | 'False', reason: string, message: string) => ({
    type,
    status,
    reason,
    message,
    observedGeneration: 1,
    lastTransitionTime: end,
  })
  return {
    state: 'Completed',
    progress: '100%',
    currentEpoch: 10,
    totalEpochs: 10,
    step: 10_000,
    totalSteps: 10_000,
    metrics: { loss: 0.234, accuracy: 0.876, throughput: 1_234.5, stepTime: 0.36 },
    workers: { active: 0, succeeded: 4, failed: 0, pending: 0 },
    attempts: 1,
    worldSize: 4,
    duration: '1h 0m',
    startTime: start,
    completionTime: end,
    observedGeneration: 1,
    conditions: [
      condition('Running', 'False', 'Completed', 'all workers have succeeded'),
      condition('Complete', 'True', 'Completed', 'all workers have succeeded'),
    ],
  }
}

const range = (from: number, to: number): IterableIterator<number> =>
  Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index).values()

type Act = (number: number) => Promise<void>

async function inLanes(numbers: Iterable<number>, signal: AbortSignal, act: Act): Promise<void> {
  const lane = async (): Promise<void> => {
    for (const number of numbers) {
      signal.throwIfAborted()
      await act(number)
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
}
