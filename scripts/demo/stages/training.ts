import { trainingJobs } from '../../../src/api/kinds.ts'
import type { TrainingJob } from '../../../src/api/trainingjob.v1.ts'
import { Pod } from '../../../src/kube/resources.ts'
import { type Demo, Fatal } from '../demo.ts'
import { apply, example } from '../manifests.ts'
import type { Stage } from '../stage.ts'
import { bar } from '../terminal.ts'
import { type TrainingLog, trainingLog } from '../training-log.ts'

const NAME = 'spiral'
const MASTER = `${NAME}-workers-0`
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
  /** The latest observed epoch, because the log is empty while workers restart. */
  #latest: TrainingLog['latest']
  #hasReportedRecovery = false

  constructor(demo: Demo) {
    this.#demo = demo
  }

  /** Returns true when the training has completed. */
  async update(): Promise<boolean> {
    const { status = {} } = await jobOf(this.#demo)
    const { state = 'Pending', attempts = 1, reason } = status
    if (state === 'Failed') throw new Fatal(`the training has failed: ${status.lastFailure?.message ?? reason}`)
    const log = await this.#log()
    this.#latest = log.latest ?? this.#latest
    if (attempts > 1) this.#reportRecovery(log)
    this.#demo.terminal.live(this.#line(state, reason))
    if (state === 'Running' && attempts === 1) await this.#killOnce()
    return state === 'Completed' && this.#reportEnd()
  }

  async #log(): Promise<TrainingLog> {
    const client = await this.#demo.client()
    return trainingLog(await client.logs({ namespace: this.#demo.namespace, name: MASTER }).catch(() => ''))
  }

  #line(state: string, reason: string | undefined): string {
    const { epoch = 0, epochs = 0, loss, accuracy } = this.#latest ?? {}
    if (epochs === 0) return `${state.padEnd(13)} ${reason ?? 'the workers start: Python, PyTorch, rendezvous'}`
    const numbers = `loss ${loss?.toFixed(4)}  accuracy ${percent(accuracy ?? 0)}`
    return `${state.padEnd(13)} epoch ${String(epoch).padStart(2)}/${epochs}  ${bar(epoch / epochs)}  ${numbers}`
  }

  async #killOnce(): Promise<void> {
    const { settings, terminal, namespace } = this.#demo
    const { epoch = 0, epochs = 1 } = this.#latest ?? {}
    if (settings.fast || epoch / epochs < KILL_AFTER || epoch === epochs) return
    const client = await this.#demo.client()
    const { metadata } = await client.get(Pod, { namespace, name: KILLED })
    if (metadata.deletionTimestamp !== undefined) return
    await client.delete(Pod, { namespace, name: KILLED }, { gracePeriodSeconds: 0 })
    terminal.line(`after epoch ${epoch} a worker is killed: kubectl delete pod ${KILLED} --now`)
  }

  #reportEnd(): true {
    this.#demo.seen.push(`two workers trained a model to an accuracy of ${percent(this.#latest?.accuracy ?? 0)}`)
    return true
  }

  #reportRecovery({ resumedFrom: epoch }: TrainingLog): void {
    if (this.#hasReportedRecovery || epoch === undefined) return
    this.#hasReportedRecovery = true
    this.#demo.terminal.line(`both workers are back and resume from the checkpoint of epoch ${epoch}`)
    this.#demo.seen.push(`after a worker was killed, the job resumed from the checkpoint of epoch ${epoch}`)
  }
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`
