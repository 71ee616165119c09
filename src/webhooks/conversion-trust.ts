/** Publishes the conversion webhook in the CRD: its address and the trusted authorities. */

import { crdName } from '../api/kind.ts'
import { trainingJobKind } from '../api/kinds.ts'
import { sameJson } from '../api/json.ts'
import type { Client } from '../kube/client.ts'
import type { KubeObject, Resource } from '../kube/object.ts'

/** How the API server reaches the webhook: a Service, or a URL if the operator runs outside of the cluster. */
export type WebhookEndpoint =
  | { readonly url: string }
  | {
      readonly service: {
        readonly namespace: string
        readonly name: string
        readonly path: string
        readonly port: number
      }
    }

interface Crd extends KubeObject {
  readonly spec: { readonly conversion?: unknown }
}

const crds: Resource<Crd> = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
}

/** Updates the CRD if it differs. Returns whether it has written. */
export async function publishTrust(
  client: Client,
  authorities: readonly string[],
  endpoint: WebhookEndpoint,
): Promise<boolean> {
  const key = { name: crdName(trainingJobKind) }
  const { spec } = await client.get(crds, key)
  const conversion = {
    strategy: 'Webhook',
    webhook: {
      clientConfig: { ...endpoint, caBundle: Buffer.from(authorities.join('')).toString('base64') },
      conversionReviewVersions: ['v1'],
    },
  }
  if (sameJson(spec.conversion, conversion)) return false
  const removeOther = 'url' in endpoint ? { service: null } : { url: null }
  const clientConfig = { ...conversion.webhook.clientConfig, ...removeOther }
  await client.patch(crds, key, {
    spec: { conversion: { ...conversion, webhook: { ...conversion.webhook, clientConfig } } },
  })
  return true
}
