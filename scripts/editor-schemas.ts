/** JSON schemas for editors: completion, hover texts and validation. */

import { objectSchema } from '../src/api/crd.ts'
import type { Kind, KindVersion } from '../src/api/kind.ts'
import { type JsonSchema, mapSchema, plain } from '../src/api/structural.ts'

export interface EditorSchema {
  /** e.g. `trainingjob-ml.example.com-v1` */
  readonly name: string
  readonly schema: unknown
}

export function editorSchemas(kinds: readonly Kind[]): EditorSchema[] {
  return kinds.flatMap((kind) =>
    kind.versions.map((version) => ({
      name: `${kind.kind.toLowerCase()}-${kind.group}-${version.name}`,
      schema: editorSchema(kind, version),
    })),
  )
}

function editorSchema(kind: Kind, version: KindVersion): unknown {
  const schema = mapSchema(objectSchema(kind, version, plain), strict)
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: `${kind.kind} (${kind.group}/${version.name})`,
    ...schema,
    required: ['apiVersion', 'kind', 'metadata', 'spec'],
    properties: {
      ...schema.properties,
      apiVersion: { const: `${kind.group}/${version.name}` },
      kind: { const: kind.kind },
      metadata: { type: 'object', properties: schema.properties?.['metadata']?.properties },
    },
  }
}

/** Rejects unknown fields, which the server would drop, and omits Kubernetes extensions. */
function strict(node: JsonSchema): JsonSchema {
  const known = Object.entries(node).filter(([keyword]) => !keyword.startsWith('x-kubernetes-'))
  const closed = node.properties !== undefined && node['x-kubernetes-preserve-unknown-fields'] !== true
  return Object.fromEntries(closed ? [...known, ['additionalProperties', false]] : known)
}
