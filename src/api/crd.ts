/** Generates the CustomResourceDefinition of a kind. */

import type { TObject } from 'typebox'
import type { KubeObject } from '../kube/object.ts'
import { type Column, crdName, type Kind, type KindVersion } from './kind.ts'
import { CATEGORY } from './kinds.ts'
import { DNS_LABEL } from './schema.ts'
import { type JsonSchema, structural } from './structural.ts'

/** Default address of the conversion webhook. */
export const CONVERSION_SERVICE = {
  namespace: 'ml-operator-system',
  name: 'ml-operator-webhook',
  path: '/convert',
  port: 443,
} as const

export interface CustomResourceDefinition extends KubeObject {
  readonly spec: Readonly<Record<string, unknown>>
}

export function customResourceDefinition(kind: Kind): CustomResourceDefinition {
  const singular = kind.kind.toLowerCase()
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: crdName(kind), labels: { 'app.kubernetes.io/part-of': 'ml-operator' } },
    spec: {
      group: kind.group,
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural: kind.plural,
        singular,
        ...(kind.shortNames.length > 0 && { shortNames: kind.shortNames }),
        categories: [CATEGORY],
      },
      scope: 'Namespaced',
      conversion: kind.versions.length > 1 ? webhookConversion() : { strategy: 'None' },
      versions: kind.versions.map((version) => servedVersion(kind, version)),
    },
  }
}

/** Has no CA bundle: the operator creates its own certificate authority and sets the bundle. */
function webhookConversion(): unknown {
  return {
    strategy: 'Webhook',
    webhook: { clientConfig: { service: CONVERSION_SERVICE }, conversionReviewVersions: ['v1'] },
  }
}

function servedVersion(kind: Kind, version: KindVersion): unknown {
  return {
    name: version.name,
    served: true,
    storage: version.storage,
    schema: { openAPIV3Schema: objectSchema(kind, version, structural) },
    subresources: { status: {}, ...(version.scale && { scale: version.scale }) },
    additionalPrinterColumns: version.columns.map(printerColumn),
  }
}

const printerColumn = ({ wide, ...column }: Column): unknown => ({ ...column, ...(wide && { priority: 1 }) })

/** The schema of a whole object. `emit` converts the declarations of spec and status. */
export function objectSchema(kind: Kind, version: KindVersion, emit: (schema: TObject) => JsonSchema): JsonSchema {
  return {
    type: 'object',
    description: version.description,
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string', description: 'API group and version of the object.' },
      kind: { type: 'string', description: 'Kind of the object.' },
      metadata: { type: 'object', properties: { name: nameSchema(kind) } },
      spec: emit(version.spec),
      status: emit(version.status),
    },
    ...(version.rules && { 'x-kubernetes-validations': version.rules }),
  }
}

/** Names of Services and hostnames are derived from the name, so it must be a DNS label with room for suffixes. */
const nameSchema = (kind: Kind): JsonSchema => ({ type: 'string', maxLength: kind.maxNameLength, pattern: DNS_LABEL })
