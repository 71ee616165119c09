/** The OpenAPI schemas that the API server publishes. */
import type { JsonSchema } from '../../src/api/structural.ts'
import type { Client } from '../../src/kube/client.ts'
import type { Resource } from '../../src/kube/object.ts'

/** A schema whose references are resolved one step at a time: those of pods contain themselves. */
export interface ApiSchema extends JsonSchema {
  readonly $ref?: string
  readonly allOf?: readonly ApiSchema[]
  readonly oneOf?: readonly ApiSchema[]
  readonly 'x-kubernetes-group-version-kind'?: readonly { readonly group: string; readonly kind: string }[]
}

interface Document {
  readonly components: { readonly schemas: Readonly<Record<string, ApiSchema>> }
}

export class OpenApi {
  readonly #client: Client
  readonly #documents = new Map<string, Promise<Document>>()

  constructor(client: Client) {
    this.#client = client
  }

  async schemaOf({ group, version, kind }: Resource): Promise<ResolvedSchema> {
    const path = group === '' ? `api/${version}` : `apis/${group}/${version}`
    const known = this.#documents.get(path) ?? this.#read(path)
    this.#documents.set(path, known)
    const { schemas } = (await known).components
    const isKind = (schema: ApiSchema): boolean =>
      schema['x-kubernetes-group-version-kind']?.some((one) => one.kind === kind && one.group === group) ?? false
    const found = Object.values(schemas).find(isKind)
    if (!found) throw new Error(`the server has no schema of ${kind} in ${path}`)
    return new ResolvedSchema(found, schemas)
  }

  async #read(path: string): Promise<Document> {
    return (await this.#client.request({ method: 'GET', path: `/openapi/v3/${path}` })) as Document
  }
}

export class ResolvedSchema {
  readonly node: ApiSchema
  readonly #schemas: Readonly<Record<string, ApiSchema>>

  constructor(schema: ApiSchema, schemas: Readonly<Record<string, ApiSchema>>) {
    this.node = resolved(schema, schemas)
    this.#schemas = schemas
  }

  get properties(): [string, ResolvedSchema][] {
    return Object.entries(this.node.properties ?? {}).map(([name, schema]) => [name, this.#below(schema)])
  }

  property(name: string): ResolvedSchema | undefined {
    const schema = this.node.properties?.[name]
    return schema && this.#below(schema)
  }

  get items(): ResolvedSchema | undefined {
    return this.node.items && this.#below(this.node.items)
  }

  /** Of the values of a map. */
  get values(): ResolvedSchema | undefined {
    const { additionalProperties } = this.node
    return typeof additionalProperties === 'object' ? this.#below(additionalProperties) : undefined
  }

  #below(schema: ApiSchema): ResolvedSchema {
    return new ResolvedSchema(schema, this.#schemas)
  }
}

function resolved(schema: ApiSchema, schemas: Readonly<Record<string, ApiSchema>>): ApiSchema {
  const { allOf, ...own } = schema
  const [referred] = allOf ?? []
  if (referred) return { ...resolved(referred, schemas), ...own }
  if (schema.$ref === undefined) return schema
  const target = schemas[schema.$ref.split('/').at(-1) ?? '']
  if (!target) throw new Error(`${schema.$ref} is not in the document`)
  return resolved(target, schemas)
}
