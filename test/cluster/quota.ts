import type { Client } from '../../src/kube/client.ts'
import type { KubeObject, ObjectKey, Resource } from '../../src/kube/object.ts'
import { until } from '../timing/until.ts'

export interface ResourceQuota extends KubeObject {
  readonly spec: { readonly hard: Readonly<Record<string, string>> }
  readonly status?: { readonly used?: Readonly<Record<string, string>> }
}

export const resourceQuotas: Resource<ResourceQuota> = {
  group: '',
  version: 'v1',
  kind: 'ResourceQuota',
  plural: 'resourcequotas',
  namespaced: true,
}

/** Creates a quota for this many pods and waits until it is enforced. */
export async function createPodQuota(client: Client, namespace: string, pods: number): Promise<Required<ObjectKey>> {
  const key = { namespace, name: 'small' }
  const spec = { hard: { pods: String(pods) } }
  await client.create(resourceQuotas, { apiVersion: 'v1', kind: 'ResourceQuota', metadata: key, spec })
  await until('the quota to be counted', async () => (await client.get(resourceQuotas, key)).status?.used !== undefined)
  return key
}
