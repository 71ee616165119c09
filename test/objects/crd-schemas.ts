/** The schemas of our kinds, read from the generated CRDs. */
import type { JsonSchema } from '../../src/api/structural.ts'
import type { KubeObject, Resource } from '../../src/kube/object.ts'
import { manifestsIn } from '../cluster/api.ts'

export interface KindSchema {
  readonly resource: Resource
  /** Of the whole object. */
  readonly schema: JsonSchema
}

interface Crd extends KubeObject {
  readonly spec: {
    readonly group: string
    readonly names: { readonly kind: string; readonly plural: string }
    readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: JsonSchema } }[]
  }
}

/** One entry for each served version of each kind. */
export async function crdSchemas(): Promise<KindSchema[]> {
  const files = await manifestsIn('config/crd')
  const crds = files
    .flatMap(({ objects }) => objects)
    .filter(({ kind }) => kind === 'CustomResourceDefinition') as Crd[]
  return crds.flatMap(({ spec: { group, names, versions } }) =>
    versions.map(({ name, schema }) => ({
      resource: { group, version: name, kind: names.kind, plural: names.plural, namespaced: true },
      schema: schema.openAPIV3Schema,
    })),
  )
}

/** `ml.example.com/v1 TrainingJob`. */
export const nameOfKind = ({ group, version, kind }: Resource): string => `${group}/${version} ${kind}`

export function specSchema({ schema }: KindSchema): JsonSchema {
  const { spec } = schema.properties ?? {}
  if (spec === undefined) throw new Error('the schema has no spec')
  return spec
}
