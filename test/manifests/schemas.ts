/** JSON schemas for kubeconform: those that the API server publishes, and those of CRDs, both without unknown fields. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import type { Client } from '../../src/kube/client.ts'
import type { KubeObject } from '../../src/kube/object.ts'

type Json = Readonly<Record<string, unknown>>

interface GroupVersionKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

interface Crd extends KubeObject {
  readonly spec: {
    readonly group: string
    readonly names: { readonly kind: string }
    readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: Json } }[]
  }
}

/** The value of kubeconform's flag `-schema-location` for a directory of `writeSchemas`. */
export const schemaLocation = (directory: string): string => join(directory, '{{.ResourceKind}}{{.KindSuffix}}.json')

const DEFINITIONS = 'definitions.json'
const GVK = 'x-kubernetes-group-version-kind'

/** Types that the published schemas describe as strings. */
const SCALARS: Readonly<Record<string, Json>> = {
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': { type: ['string', 'integer'] },
  'io.k8s.apimachinery.pkg.api.resource.Quantity': { type: ['string', 'number'] },
}

/** Writes the schemas of all kinds of the API server, and of the CRDs in these files. */
export async function writeSchemas(directory: string, client: Client, crds: readonly string[]): Promise<void> {
  const published = (await client.request({ method: 'GET', path: '/openapi/v2' })) as { definitions: Json }
  const definitions = Object.entries(published.definitions).map(([name, schema]) => [
    name,
    SCALARS[name] ?? strict(schema),
  ])
  await writeFile(join(directory, DEFINITIONS), JSON.stringify({ definitions: Object.fromEntries(definitions) }))
  for (const [name, schema] of Object.entries(published.definitions))
    for (const kind of ((schema as Json)[GVK] ?? []) as readonly GroupVersionKind[])
      await write(directory, kind, { $ref: `${DEFINITIONS}#/definitions/${name}` })
  for (const path of crds) await writeCrd(directory, parse(await readFile(path, 'utf8')) as Crd)
}

async function writeCrd(directory: string, { spec }: Crd): Promise<void> {
  for (const { name, schema } of spec.versions)
    await write(directory, { group: spec.group, version: name, kind: spec.names.kind }, strict(schema.openAPIV3Schema))
}

/** With the name that kubeconform looks for: the kind, the first part of the group, the version. */
async function write(directory: string, { group, version, kind }: GroupVersionKind, schema: unknown): Promise<void> {
  const parts = [kind, ...(group === '' ? [] : [group.split('.')[0]]), version]
  await writeFile(join(directory, `${parts.join('-').toLowerCase()}.json`), JSON.stringify(schema))
}

/** The schema, which rejects fields that it does not have. */
function strict(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strict)
  if (schema === null || typeof schema !== 'object') return schema
  const own = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, strict(value)]))
  const isClosed = isProperties(own['properties']) && own['x-kubernetes-preserve-unknown-fields'] !== true
  return isClosed && own['additionalProperties'] === undefined ? { ...own, additionalProperties: false } : own
}

/** Whether it has the schemas of properties, and is not the schema of a property with this name. */
const isProperties = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.values(value).every((one) => typeof one === 'object')
