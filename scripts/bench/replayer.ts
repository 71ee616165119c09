/* eslint-disable unicorn/require-post-message-target-origin -- threads have no origin */
/**
 * A thread that answers every object it is told of with the recorded writes, and does nothing else: what an operator would
 * be if it neither watched nor decided. A thread, because an operator has a process of its own as well.
 */
import { once } from 'node:events'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import type { KubeObject } from '../../src/kube/object.ts'
import { Places } from '../../test/crash/places.ts'
import { type Recording, replay } from './recording.ts'

interface Task {
  readonly kubeconfig: string
  readonly recording: Recording
  /** Objects at a time. */
  readonly lanes: number
}

export interface Replayer {
  /** Another object that has to be served. */
  serve(object: KubeObject): void
  /** Waits until all are. */
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
  const places = new Places(lanes)
  const serving: Promise<void>[] = []
  const ended = new Promise<void>((resolve) => {
    parentPort?.on('message', (object: KubeObject | typeof END) => {
      if (object === END) resolve()
      else serving.push(places.within(() => replay(client, recording, object)))
    })
  })
  parentPort?.postMessage('ready')
  await ended
  await Promise.all(serving)
  await client.close()
  parentPort?.close()
}

if (!isMainThread) await serve(workerData as Task)
