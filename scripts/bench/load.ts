/** A thousand users at once: jobs spread over namespaces, and the moment at which all their pods exist. */
import { trainingJobs } from '../../src/api/kinds.ts'
import type { TrainingJob } from '../../src/api/trainingjob.v1.ts'
import { type Client, createClient } from '../../src/kube/client.ts'
import type { ClientConfig } from '../../src/kube/config.ts'
import { Namespace, Pod } from '../../src/kube/resources.ts'
import { watch } from '../../src/kube/watch.ts'
import { until } from '../../test/until.ts'
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
  for (const name of names) await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  for (const name of names) {
    const path = `/api/v1/namespaces/${name}/serviceaccounts/default`
    await until(`the account of ${name}`, () => client.request({ method: 'GET', path }))
  }
  return names
}

/** Creates all jobs, tells `created` of each, and gives the seconds until the last pod of them exists. */
export async function secondsUntilPods(
  load: Load,
  prefix: string,
  created: (job: TrainingJob) => void = () => undefined,
): Promise<number> {
  const client = createClient(load.cluster)
  const places = await freshNamespaces(client, prefix, Math.min(load.jobs, MOST_NAMESPACES))
  const counter = podCounter(load.cluster, prefix)
  const began = performance.now()
  const numbers = Array.from({ length: load.jobs }, (_, index) => index).values()
  const creator = async (): Promise<void> => {
    for (const number of numbers) {
      const namespace = places[number % places.length] ?? ''
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

/** Counts the pods whose namespace begins so, on a connection of its own. */
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
