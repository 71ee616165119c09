/**
 * The kinds of Istio and of the Gateway API, as their own definitions have them, for clusters that have neither. Only for a
 * control plane of one's own: `auto` looks at them.
 */
import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'
import type { Client } from '../src/kube/client.ts'
import { isNotFound } from '../src/kube/errors.ts'
import type { KubeObject, Resource } from '../src/kube/object.ts'
import { CustomResourceDefinition } from '../src/kube/resources.ts'
import { DestinationRule, HTTPRoute, VirtualService } from '../src/plan/traffic/kinds.ts'
import { provideDefinition } from '../testenv/definitions.ts'
import { until } from './until.ts'

export const trafficKinds: readonly Resource[] = [VirtualService, DestinationRule, HTTPRoute]

export async function installTrafficKinds(client: Client, wanted = trafficKinds): Promise<void> {
  await Promise.all(wanted.map((resource) => install(client, resource)))
}

/** Whether a cluster has them of its own. */
export async function areTrafficKindsServed(client: Client): Promise<boolean> {
  const isDefined = (resource: Resource): Promise<boolean> =>
    client.get(CustomResourceDefinition, { name: nameOf(resource) }).then(() => true, denied)
  return (await Promise.all(trafficKinds.map(isDefined))).some(Boolean)
}

export async function removeTrafficKinds(client: Client): Promise<void> {
  for (const resource of trafficKinds) await client.delete(CustomResourceDefinition, { name: nameOf(resource) })
}

function denied(error: unknown): false {
  if (isNotFound(error)) return false
  throw error
}

const nameOf = ({ plural, group }: Resource): string => `${plural}.${group}`

async function install(client: Client, resource: Resource): Promise<void> {
  const text = await readFile(await provideDefinition(nameOf(resource)), 'utf8')
  await client.apply(CustomResourceDefinition, parse(text) as KubeObject, { force: true })
  await until(`${resource.kind} to be served`, async () => (await client.list(resource)).items)
}
