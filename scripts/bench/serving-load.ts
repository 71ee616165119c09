/** Creates models in several namespaces, and waits until all of them run. */
import { modelDeployments } from '../../src/api/kinds.ts'
import type { ModelDeployment } from '../../src/api/modeldeployment.v1.ts'
import { type Client, createClient } from '../../src/kube/client.ts'
import type { ClientConfig } from '../../src/kube/config.ts'
import { Namespace } from '../../src/kube/resources.ts'
import { watch } from '../../src/kube/watch.ts'
import { modelDeployment, versions } from '../../test/builders/model-deployment.ts'
import { until } from '../../test/timing/until.ts'
import { PATIENCE_MS } from './load.ts'

const MOST_NAMESPACES = 20
const CREATORS = 8

/** Two versions, each with an autoscaler and a disruption budget. */
export const benchModel = (namespace: string, name: string): ModelDeployment =>
  modelDeployment(namespace, name, {
    versions: versions({ v1: 90, v2: 10 }),
    scaling: { minReplicas: 2, maxReplicas: 4 },
  })

export async function bareNamespaces(client: Client, prefix: string, count: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_, index) => `${prefix}-${index}`)
  for (const name of names) await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  return names
}

export interface ServingLoad {
  readonly cluster: ClientConfig
  readonly models: number
}

/** Creates all models, calls `created` for each, and returns the seconds until the last one is Running. */
export async function secondsUntilServed(
  { cluster, models }: ServingLoad,
  prefix: string,
  created: (model: ModelDeployment) => void = () => undefined,
): Promise<number> {
  const client = createClient(cluster)
  const namespaces = await bareNamespaces(client, prefix, Math.min(models, MOST_NAMESPACES))
  const counter = servedCounter(cluster, prefix)
  const began = performance.now()
  const numbers = Array.from({ length: models }, (_, index) => index).values()
  const creator = async (): Promise<void> => {
    for (const number of numbers) {
      const namespace = namespaces[number % namespaces.length] ?? ''
      created(await client.create(modelDeployments, benchModel(namespace, `model-${number}`)))
    }
  }
  await Promise.all(Array.from({ length: CREATORS }, creator))
  await counter.reaches(models)
  const seconds = (performance.now() - began) / 1000
  await counter.stop()
  await client.close()
  return seconds
}

/** Counts the running models of namespaces with this prefix, on a connection of its own. */
function servedCounter(cluster: ClientConfig, prefix: string) {
  const client = createClient(cluster)
  const stop = new AbortController()
  const served = new Set<string>()
  const note = ({ metadata, status }: ModelDeployment): void => {
    const isServed = metadata.namespace?.startsWith(`${prefix}-`) && status?.phase === 'Running'
    if (isServed) served.add(metadata.uid ?? '')
  }
  const follow = async (): Promise<void> => {
    for await (const update of watch(client, modelDeployments, { signal: stop.signal })) {
      if (update.type === 'replace') update.items.forEach(note)
      else if (update.type === 'apply') note(update.object)
    }
    await client.close()
  }
  const ended = follow()
  return {
    reaches: (count: number) => until(`${count} models to run`, () => served.size >= count, PATIENCE_MS),
    stop: async () => {
      stop.abort()
      await ended
    },
  }
}
