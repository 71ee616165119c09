/* eslint-disable unicorn/require-post-message-target-origin -- threads have no origin */
/**
 * A thread that answers every job it is told of with the recorded writes, and does nothing else: what an operator would
 * be if it neither watched nor decided. A thread, because an operator has a process of its own as well.
 */
import { once } from 'node:events'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import type { TrainingJob } from '../../src/api/trainingjob.v1.ts'
import { createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import { Places } from '../../test/crash/places.ts'
import { type Recording, replay } from './recording.ts'

interface Task {
  readonly kubeconfig: string
  readonly recording: Recording
  /** Jobs at a time. */
  readonly lanes: number
}

export interface Replayer {
  /** Another job that has to be served. */
  serve(job: TrainingJob): void
  /** Waits until all are. */
  end(): Promise<void>
}

const END = 'end'

export async function startReplayer(task: Task): Promise<Replayer> {
  const worker = new Worker(new URL(import.meta.url), { workerData: task })
  await once(worker, 'message')
  return {
    serve: (job) => worker.postMessage(job),
    end: async () => {
      const exit = once(worker, 'exit')
      worker.postMessage(END)
      await exit
    },
  }
}

async function serve({ kubeconfig, recording, lanes }: Task): Promise<void> {
  const client = createClient(await configFromKubeconfig(kubeconfig))
  const places = new Places(lanes)
  const serving: Promise<void>[] = []
  const ended = new Promise<void>((resolve) => {
    parentPort?.on('message', (job: TrainingJob | typeof END) => {
      if (job === END) resolve()
      else serving.push(places.within(() => replay(client, recording, job)))
    })
  })
  parentPort?.postMessage('ready')
  await ended
  await Promise.all(serving)
  await client.close()
  parentPort?.close()
}

if (!isMainThread) await serve(workerData as Task)
