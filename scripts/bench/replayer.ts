/* eslint-disable unicorn/require-post-message-target-origin -- threads have no origin */
/**
 * A thread that replays the recorded writes for every object it is given: an operator that neither watches nor plans. It is a thread
 * because an operator also has its own process.
 */
import { once } from 'node:events'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import type { KubeObject } from '../../src/kube/object.ts'
import { Semaphore } from '../../test/timing/semaphore.ts'
import { type Recording, replay } from './recording.ts'

interface Task {
  readonly kubeconfig: string
  readonly recording: Recording
  /** Objects in parallel. */
  readonly lanes: number
}

export interface Replayer {
  /** Replays the writes for another object. */
  serve(object: KubeObject): void
  /** Waits until all objects are done. */
  end(): Promise<void>
}

const END = 'end'

export async function startReplayer(task: Task): Promise<Replayer> {
  const worker = new Worker(new URL(import.meta.url), { workerData: task })
  await once(worker, 'message')
  return {
    serve: (object) => worker.postMessage(object),
    end: async () => {
      const exit = once(worker, 'exit')
      worker.postMessage(END)
      await exit
    },
  }
}

async function serve({ kubeconfig, recording, lanes }: Task): Promise<void> {
  const client = createClient(await configFromKubeconfig(kubeconfig))
  const slots = new Semaphore(lanes)
  const serving: Promise<void>[] = []
  const ended = new Promise<void>((resolve) => {
    parentPort?.on('message', (object: KubeObject | typeof END) => {
      if (object === END) resolve()
      else serving.push(slots.run(() => replay(client, recording, object)))
    })
  })
  parentPort?.postMessage('ready')
  await ended
  await Promise.all(serving)
  await client.close()
  parentPort?.close()
}

if (!isMainThread) await serve(workerData as Task)
