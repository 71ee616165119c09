/** Hostile texts in the fields of the full specs: every field that has a text. */
import type { KubeObject, Resource } from '../../src/kube/object.ts'
import { crdSchemas, specSchema } from './crd-schemas.ts'
import { fullSpecs } from './full-specs.ts'
import { type Place, placesOf } from './leaves.ts'

/** An object with every field of its kind. */
export interface HostileKind {
  readonly resource: Resource
  readonly fields: readonly Place[]
  /** The object with the text in these fields. */
  readonly make: (metadata: KubeObject['metadata'], fields: readonly Place[], text: string) => KubeObject
}

export async function hostileKinds(): Promise<HostileKind[]> {
  const schemas = await crdSchemas()
  return fullSpecs.map(({ subject: { resource, object } }) => {
    const schema = schemas.find(({ resource: { group, version, plural } }) => {
      return group === resource.group && version === resource.version && plural === resource.plural
    })
    if (!schema) throw new Error(`${resource.kind} has no schema`)
    const { spec, ...rest } = object as KubeObject & { readonly spec: object }
    return {
      resource,
      fields: placesOf(specSchema(schema), spec).filter(({ value }) => typeof value === 'string'),
      make: (metadata, fields, text) => {
        const hostile = fields.reduce<unknown>((value, { steps }) => replaced(value, steps, text), spec)
        return { ...rest, metadata, spec: hostile } as KubeObject
      },
    }
  })
}

function replaced(value: unknown, [step, ...rest]: Place['steps'], text: string): unknown {
  if (step === undefined) return text
  if (Array.isArray(value)) return value.map((item, index) => (index === step ? replaced(item, rest, text) : item))
  const members = value as Readonly<Record<string, unknown>>
  return { ...members, [step]: replaced(members[step], rest, text) }
}
