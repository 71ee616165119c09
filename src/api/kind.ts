/** What it takes to define a kind: its names, its versions, and for each version the schema of what users write. */

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
}

export interface KindVersion {
  readonly name: string
  /** Exactly one version of a kind is the one that etcd holds. */
  readonly storage: boolean
  readonly description: string
  readonly spec: TObject
  readonly status: TObject
  /** Rules that need both the object's name and its spec. */
  readonly rules?: readonly Rule[]
  readonly columns: readonly Column[]
  readonly scale?: Scale
}

export interface Kind {
  readonly group: string
  readonly kind: string
  readonly plural: string
  readonly shortNames: readonly string[]
  /** The longest name whose children's names still fit into 63 characters. */
  readonly maxNameLength: number
  readonly versions: readonly KindVersion[]
}

export const AGE: Column = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
  description: 'Time since creation.',
}

/** The object users write and the operator reports on. */
export interface CustomObject<Spec, Status> extends KubeObject {
  readonly spec: Spec
  readonly status?: Status
}

/** Where a version of a kind lives in the API. */
export function resourceOf<T extends KubeObject>(kind: Kind, version: string): Resource<T> {
  return { group: kind.group, version, kind: kind.kind, plural: kind.plural, namespaced: true }
}

/** The name of its CustomResourceDefinition, and of the quota `count/…` on it. */
export const crdName = (kind: Pick<Kind, 'plural' | 'group'>): string => `${kind.plural}.${kind.group}`
