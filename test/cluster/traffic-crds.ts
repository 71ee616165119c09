/**
 * Installs the CRDs of Istio and the Gateway API. Only on a control plane of the test's own, because the provider `auto`
 * depends on them.
 */
import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'
import type { Client } from '../../src/kube/client.ts'
import { isNotFound } from '../../src/kube/errors.ts'
import type { KubeObject, Resource } from '../../src/kube/object.ts'
import { CustomResourceDefinition } from '../../src/kube/resources.ts'
import { HTTPRoute } from '../../src/plan/traffic/providers/gateway/kinds.ts'
import { DestinationRule, VirtualService } from '../../src/plan/traffic/providers/istio/kinds.ts'
import { provideCrd } from '../../testenv/crds.ts'
import { until } from '../timing/until.ts'

export const trafficKinds: readonly Resource[] = [VirtualService, DestinationRule, HTTPRoute]

export async function installTrafficKinds(client: Client, wanted = trafficKinds): Promise<void> {
  await Promise.all(wanted.map((resource) => installPublished(client, resource)))
}

/** Whether the cluster has any of these CRDs. */
export async function areTrafficKindsServed(client: Client): Promise<boolean> {
  const isDefined = (resource: Resource): Promise<boolean> =>
    client.get(CustomResourceDefinition, { name: nameOf(resource) }).then(() => true, falseIfNotFound)
  return (await Promise.all(trafficKinds.map(isDefined))).some(Boolean)
}

export async function removeTrafficKinds(client: Client): Promise<void> {
  for (const resource of trafficKinds) await client.delete(CustomResourceDefinition, { name: nameOf(resource) })
}

function falseIfNotFound(error: unknown): false {
  if (isNotFound(error)) return false
  throw error
}

const nameOf = ({ plural, group }: Resource): string => `${plural}.${group}`

/** Installs the CRD that another project publishes for the kind. */
export async function installPublished(client: Client, resource: Resource): Promise<void> {
  const text = await readFile(await provideCrd(nameOf(resource)), 'utf8')
  await client.apply(CustomResourceDefinition, parse(text) as KubeObject, { force: true })
  await until(`${resource.kind} to be served`, async () => (await client.list(resource)).items)
}
