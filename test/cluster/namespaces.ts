import type { Client } from '../../src/kube/client.ts'
import { Namespace } from '../../src/kube/resources.ts'
import { until } from '../timing/until.ts'

/** Labels of a namespace that enforces Pod Security `restricted`. */
export const RESTRICTED = { 'pod-security.kubernetes.io/enforce': 'restricted' }

/** Creates a namespace and waits until pods can be created in it: until its ServiceAccount `default` exists. */
export async function createNamespace(
  client: Client,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<string> {
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } })
  const path = `/api/v1/namespaces/${name}/serviceaccounts/default`
  await until(`ServiceAccount default in ${name}`, () => client.request({ method: 'GET', path }))
  return name
}
