import { trainingJobs } from '../../../src/api/kinds.ts'
import type { TrainingJobStatus } from '../../../src/api/training-status.ts'
import type { TrainingJob } from '../../../src/api/trainingjob.v1.ts'
import { Pod } from '../../../src/kube/resources.ts'
import { type Demo, Fatal } from '../demo.ts'
import { apply, example } from '../manifests.ts'
import type { Stage } from '../stage.ts'
import { bar } from '../terminal.ts'

const NAME = 'spiral'
const KILLED = `${NAME}-workers-1`
/** The share of the epochs after which a worker is killed. */
const KILL_AFTER = 0.3

/** Two workers train a model; one of them is killed meanwhile. */
export const training: Stage = {
  title: 'Training: two workers, PyTorch, data-parallel',

  async isDone(demo) {
    const job = await jobOf(demo).catch(() => undefined)
    return job?.status?.state === 'Completed'
  },

  async run(demo) {
    demo.terminal.line('kubectl apply -f examples/demo-training.yaml')
    await apply(demo, trainingJobs, await manifest(demo))
    const watch = new Watch(demo)
    await demo.until('the training to end', () => watch.update(), 900_000)
  },
}

/** In fast mode, without pauses between epochs. */
async function manifest(demo: Demo): Promise<TrainingJob> {
  const job = await example<TrainingJob>('demo-training', demo)
  const hyperparameters = { ...job.spec.hyperparameters, ...(demo.settings.fast && { secondsPerEpoch: 0 }) }
  return { ...job, spec: { ...job.spec, hyperparameters } }
}

async function jobOf(demo: Demo): Promise<TrainingJob> {
  return (await demo.client()).get(trainingJobs, { namespace: demo.namespace, name: NAME })
}

/** Shows the progress of the training, and kills a worker once. */
class Watch {
  readonly #demo: Demo
  #hasReportedRecovery = false

  constructor(demo: Demo) {
    this.#demo = demo
  }

  /** Returns true when the training has completed. */
  async update(): Promise<boolean> {
    const { status = {} } = await jobOf(this.#demo)
    const { state = 'Pending', attempts = 1, reason } = status
    if (state === 'Failed') throw new Fatal(`the training has failed: ${status.lastFailure?.message ?? reason}`)
    if (attempts > 1) this.#reportRecovery(status)
    this.#demo.terminal.live(lineOf(status))
    if (state === 'Running' && attempts === 1) await this.#killOnce(status)
    return state === 'Completed' && this.#reportEnd(status)
  }

  async #killOnce({ currentEpoch: epoch = 0, totalEpochs: epochs = 1 }: TrainingJobStatus): Promise<void> {
    const { settings, terminal, namespace } = this.#demo
    if (settings.fast || epoch / epochs < KILL_AFTER || epoch === epochs) return
    const client = await this.#demo.client()
    const { metadata } = await client.get(Pod, { namespace, name: KILLED })
    if (metadata.deletionTimestamp !== undefined) return
    await client.delete(Pod, { namespace, name: KILLED }, { gracePeriodSeconds: 0 })
    terminal.line(`after epoch ${epoch} a worker is killed: kubectl delete pod ${KILLED} --now`)
  }

  #reportEnd({ metrics }: TrainingJobStatus): true {
    this.#demo.seen.push(`two workers trained a model to an accuracy of ${percent(metrics?.['accuracy'] ?? 0)}`)
    return true
  }

  #reportRecovery({ state, checkpoint }: TrainingJobStatus): void {
    if (this.#hasReportedRecovery || state !== 'Running' || checkpoint?.resumedFrom === undefined) return
    this.#hasReportedRecovery = true
    this.#demo.terminal.line(`both workers are back and resume from the checkpoint ${checkpoint.resumedFrom}`)
    this.#demo.seen.push(`after a worker was killed, the job resumed from the checkpoint ${checkpoint.resumedFrom}`)
  }
}

/** The progress as the status has it: epoch, estimate and metrics. */
function lineOf({ state = 'Pending', reason, ...status }: TrainingJobStatus): string {
  const { currentEpoch: epoch = 0, totalEpochs: epochs = 0, metrics = {}, estimatedCompletion } = status
  if (epochs === 0) return `${state.padEnd(13)} ${reason ?? 'the workers start: Python, PyTorch, rendezvous'}`
  const end = estimatedCompletion === undefined ? '' : `  done at ${estimatedCompletion.slice(11, 19)}`
  const numbers = `loss ${metrics['loss']?.toFixed(4)}  accuracy ${percent(metrics['accuracy'] ?? 0)}${end}`
  return `${state.padEnd(13)} epoch ${String(epoch).padStart(2)}/${epochs}  ${bar(epoch / epochs)}  ${numbers}`
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`
