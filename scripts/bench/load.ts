/** Creates jobs in several namespaces, and waits until all their pods exist. */
import { trainingJobs } from '../../src/api/kinds.ts'
import type { TrainingJob } from '../../src/api/trainingjob.v1.ts'
import { type Client, createClient } from '../../src/kube/client.ts'
import type { ClientConfig } from '../../src/kube/config.ts'
import { Pod } from '../../src/kube/resources.ts'
import { watch } from '../../src/kube/watch.ts'
import { createNamespace } from '../../test/cluster/namespaces.ts'
import { until } from '../../test/timing/until.ts'
import type { Manifest } from './recording.ts'

export interface Load {
  readonly cluster: ClientConfig
  readonly jobs: number
  readonly workers: number
  readonly manifest: Manifest
}

const MOST_NAMESPACES = 20
const CREATORS = 8
export const PATIENCE_MS = 30 * 60_000

export async function freshNamespaces(client: Client, prefix: string, count: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_, index) => `${prefix}-${index}`)
  for (const name of names) await createNamespace(client, name)
  return names
}

/** Creates all jobs, calls `created` for each, and returns the seconds until the last pod exists. */
export async function secondsUntilPods(
  load: Load,
  prefix: string,
  created: (job: TrainingJob) => void = () => undefined,
): Promise<number> {
  const client = createClient(load.cluster)
  const namespaces = await freshNamespaces(client, prefix, Math.min(load.jobs, MOST_NAMESPACES))
  const counter = podCounter(load.cluster, prefix)
  const began = performance.now()
  const numbers = Array.from({ length: load.jobs }, (_, index) => index).values()
  const creator = async (): Promise<void> => {
    for (const number of numbers) {
      const namespace = namespaces[number % namespaces.length] ?? ''
      created(await client.create(trainingJobs, load.manifest(namespace, `job-${number}`)))
    }
  }
  await Promise.all(Array.from({ length: CREATORS }, creator))
  await counter.reaches(load.jobs * load.workers)
  const seconds = (performance.now() - began) / 1000
  await counter.stop()
  await client.close()
  return seconds
}

/** Counts the pods of namespaces with this prefix, on a connection of its own. */
function podCounter(cluster: ClientConfig, prefix: string) {
  const client = createClient(cluster)
  const stop = new AbortController()
  const seen = new Set<string>()
  const note = ({ metadata }: Pod): void =>
    void (metadata.namespace?.startsWith(`${prefix}-`) && seen.add(metadata.uid ?? ''))
  const follow = async (): Promise<void> => {
    for await (const update of watch(client, Pod, { signal: stop.signal })) {
      if (update.type === 'replace') update.items.forEach(note)
      else if (update.type === 'apply') note(update.object)
    }
    await client.close()
  }
  const ended = follow()
  return {
    reaches: (count: number) => until(`${count} pods`, () => seen.size >= count, PATIENCE_MS),
    stop: async () => {
      stop.abort()
      await ended
    },
  }
}
