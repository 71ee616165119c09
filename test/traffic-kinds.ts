/**
 * The kinds of Istio and of the Gateway API, as their own definitions have them, for clusters that have neither. Only for a
 * control plane of one's own: `auto` looks at them.
 */
import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'
import type { Client } from '../src/kube/client.ts'
import type { KubeObject, Resource } from '../src/kube/object.ts'
import { CustomResourceDefinition } from '../src/kube/resources.ts'
import { DestinationRule, HTTPRoute, VirtualService } from '../src/plan/traffic/kinds.ts'
import { provideDefinition } from '../testenv/definitions.ts'
import { until } from './until.ts'

export const trafficKinds: readonly Resource[] = [VirtualService, DestinationRule, HTTPRoute]

export async function installTrafficKinds(client: Client, wanted = trafficKinds): Promise<void> {
  await Promise.all(wanted.map((resource) => install(client, resource)))
}

async function install(client: Client, resource: Resource): Promise<void> {
  const text = await readFile(await provideDefinition(`${resource.plural}.${resource.group}`), 'utf8')
  await client.apply(CustomResourceDefinition, parse(text) as KubeObject, { force: true })
  await until(`${resource.kind} to be served`, async () => (await client.list(resource)).items)
}
