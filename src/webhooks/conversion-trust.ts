/** What the API server is told about the conversion webhook: where it is and which authorities to trust. */

import { crdName } from '../api/kind.ts'
import { trainingJobKind } from '../api/kinds.ts'
import { sameJson } from '../api/json.ts'
import type { Client } from '../kube/client.ts'
import type { KubeObject, Resource } from '../kube/object.ts'

/** How the API server reaches the webhook: a Service of the cluster, or a URL when the operator runs outside of it. */
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

interface Definition extends KubeObject {
  readonly spec: { readonly conversion?: unknown }
}

const definitions: Resource<Definition> = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
}

/** Makes the definition say so, with a write only if it does not already. True if it had to. */
export async function publishTrust(
  client: Client,
  authorities: readonly string[],
  endpoint: WebhookEndpoint,
): Promise<boolean> {
  const key = { name: crdName(trainingJobKind) }
  const { spec } = await client.get(definitions, key)
  const conversion = {
    strategy: 'Webhook',
    webhook: {
      clientConfig: { ...endpoint, caBundle: Buffer.from(authorities.join('')).toString('base64') },
      conversionReviewVersions: ['v1'],
    },
  }
  if (sameJson(spec.conversion, conversion)) return false
  const withoutTheOther = 'url' in endpoint ? { service: null } : { url: null }
  const clientConfig = { ...conversion.webhook.clientConfig, ...withoutTheOther }
  await client.patch(definitions, key, {
    spec: { conversion: { ...conversion, webhook: { ...conversion.webhook, clientConfig } } },
  })
  return true
}
