/** A small custom kind with a status, for tests that need an owner. Installed for one test file and removed after it. */
import { randomBytes } from 'node:crypto'
import { after } from 'node:test'
import { createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import type { KubeObject, Resource } from '../../src/kube/object.ts'
import { CustomResourceDefinition } from '../../src/kube/resources.ts'
import type { Condition } from '../../src/runtime/index.ts'
import { sharedCluster } from './shared-cluster.ts'
import { until } from '../timing/until.ts'

export interface WidgetStatus {
  readonly phase?: string
  readonly count?: number
  readonly conditions?: readonly Condition[]
}

export interface Widget extends KubeObject {
  readonly spec?: { readonly size?: number }
  readonly status?: WidgetStatus
}

const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

/** Each caller gets an API group of its own, so test files can run in parallel. */
export async function installWidgets(): Promise<Resource<Widget>> {
  const client = createClient(await configFromKubeconfig((await sharedCluster()).kubeconfig))
  const group = `w${randomBytes(4).toString('hex')}.example.com`
  const name = `widgets.${group}`
  const crd = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: anything, status: anything } } },
        },
      ],
    },
  }
  await client.create(CustomResourceDefinition, crd)
  after(async () => {
    await client.delete(CustomResourceDefinition, { name })
    await client.close()
  })
  const resource: Resource<Widget> = { group, version: 'v1', kind: 'Widget', plural: 'widgets', namespaced: true }
  await until('the Widget kind to be served', async () => (await client.list(resource)).items.length === 0)
  return resource
}
