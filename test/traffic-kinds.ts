/**
 * The kinds of Istio and of the Gateway API, as far as we write them, for clusters that have neither: enough for the
 * server to check names and weights, and to keep the rest. Only for a control plane of one's own: `auto` looks at them.
 */
import { apiVersionOf, type KubeObject, type Resource } from '../src/kube/object.ts'
import type { Client } from '../src/kube/client.ts'
import { CustomResourceDefinition } from '../src/kube/resources.ts'
import { DestinationRule, HTTPRoute, VirtualService } from '../src/plan/traffic/kinds.ts'
import { until } from './until.ts'

const text = { type: 'string', minLength: 1 }
const whole = (maximum: number) => ({ type: 'integer', minimum: 0, maximum })
const list = (items: object) => ({ type: 'array', items })
const object = (required: Record<string, object>, more: Record<string, object> = {}) => ({
  type: 'object',
  properties: { ...required, ...more },
  required: Object.keys(required),
  'x-kubernetes-preserve-unknown-fields': true,
})

const virtualService = object({
  hosts: list(text),
  http: list(
    object({ route: list(object({ destination: object({ host: text }, { subset: text }) }, { weight: whole(100) })) }),
  ),
})
const destinationRule = object({ host: text, subsets: list(object({ name: text })) })
const httpRoute = object({
  parentRefs: list(object({ name: text })),
  rules: list(
    object({
      backendRefs: list(object({ name: text }, { port: whole(65_535), weight: { ...whole(1_000_000), default: 1 } })),
    }),
  ),
})

const kinds: readonly [Resource, object][] = [
  [VirtualService, virtualService],
  [DestinationRule, destinationRule],
  [HTTPRoute, httpRoute],
]

export async function installTrafficKinds(client: Client, wanted?: readonly Resource[]): Promise<void> {
  const chosen = kinds.filter(([resource]) => wanted?.includes(resource) ?? true)
  await Promise.all(chosen.map(([resource, spec]) => install(client, resource, spec)))
}

async function install(client: Client, resource: Resource, spec: object): Promise<void> {
  const { group, kind, plural, version } = resource
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec, status: object({}) } } }
  const definition: KubeObject & { readonly spec: object } = {
    apiVersion: apiVersionOf(CustomResourceDefinition),
    kind: CustomResourceDefinition.kind,
    metadata: {
      name: `${plural}.${group}`,
      annotations: { 'api-approved.kubernetes.io': 'unapproved, for tests only' },
    },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: version, served: true, storage: true, subresources: { status: {} }, schema }],
    },
  }
  await client.apply(CustomResourceDefinition, definition as never, { force: true })
  await until(`${kind} to be served`, async () => (await client.list(resource)).items)
}
