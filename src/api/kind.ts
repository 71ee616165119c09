/** The definition of a kind: its names, its versions, and the schema and printer columns of each version. */

import type { TObject } from 'typebox'
import type { KubeObject, Resource } from '../kube/object.ts'
import type { Rule } from './schema.ts'

export interface Column {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'date'
  readonly jsonPath: string
  readonly description: string
  /** Shown only with `-o wide`. */
  readonly wide?: true
}

export interface Scale {
  readonly specReplicasPath: string
  readonly statusReplicasPath: string
  /** A label selector of the pods, as text, for autoscalers. */
  readonly labelSelectorPath: string
}

export interface KindVersion {
  readonly name: string
  /** Exactly one version of a kind is the storage version. */
  readonly storage: boolean
  readonly description: string
  readonly spec: TObject
  readonly status: TObject
  /** CEL rules that need both `metadata` and `spec`. */
  readonly rules?: readonly Rule[]
  readonly columns: readonly Column[]
  readonly scale?: Scale
}

export interface Kind {
  readonly group: string
  readonly kind: string
  readonly plural: string
  readonly shortNames: readonly string[]
  /** Longer names would make the names of child objects longer than 63 characters. */
  readonly maxNameLength: number
  readonly versions: readonly KindVersion[]
}

export const AGE: Column = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
  description: 'Time since creation.',
}

/** An object of one of our kinds. */
export interface CustomObject<Spec, Status> extends KubeObject {
  readonly spec: Spec
  readonly status?: Status
}

/** The REST resource of a version of a kind. */
export function resourceOf<T extends KubeObject>(kind: Kind, version: string): Resource<T> {
  return { group: kind.group, version, kind: kind.kind, plural: kind.plural, namespaced: true }
}

/** Name of the CustomResourceDefinition, also used in the quota `count/{name}`. */
export const crdName = (kind: Pick<Kind, 'plural' | 'group'>): string => `${kind.plural}.${kind.group}`
