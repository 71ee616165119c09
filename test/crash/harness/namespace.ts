import { randomBytes } from 'node:crypto'
import { trainingJobs } from '../../../src/api/kinds.ts'
import type { Client } from '../../../src/kube/client.ts'
import { keyOf } from '../../../src/kube/object.ts'
import { createNamespace } from '../../cluster/namespaces.ts'
import type { Scenario } from '../scenarios/scenario.ts'
import type { Harness } from './plan-run.ts'

/** Creates a namespace for one plan, ready for pods. */
export function createPlanNamespace(client: Client): Promise<string> {
  return createNamespace(client, `crash-${randomBytes(4).toString('hex')}`)
}

/**
 * Removes the finalizers, which no operator would remove any more. The namespace itself is deleted after all plans, because
 * its deletion costs the API server more than the plan.
 */
export async function abandonNamespace(
  { client, namespaces }: Harness,
  namespace: string,
  { primary, kinds }: Pick<Scenario, 'primary' | 'kinds'>,
): Promise<void> {
  for (const resource of [primary, ...kinds.filter(({ kind }) => kind === trainingJobs.kind)]) {
    const { items } = await client.list(resource, { namespace })
    for (const object of items) await client.patch(resource, keyOf(object), { metadata: { finalizers: null } })
  }
  namespaces.add(namespace)
}
