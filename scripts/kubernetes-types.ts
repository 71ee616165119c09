/** Fields of our kinds that have a type of Kubernetes. The API reference links to that type instead of listing its fields. */

import type { JsonSchema } from '../src/api/structural.ts'

export interface KubernetesType {
  readonly name: string
  readonly url: string
}

const REFERENCE = 'https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/'

const type = (name: string, group: string): KubernetesType => ({
  name,
  url: `${REFERENCE}#${name.toLowerCase()}-v1-${group}`,
})

/** By section and name of the field: `status.resources` of a TrainingJob is not a ResourceRequirements. */
export const kubernetesTypes: Readonly<Record<string, Readonly<Record<string, KubernetesType>>>> = {
  spec: {
    affinity: type('Affinity', 'core'),
    env: type('EnvVar', 'core'),
    envFrom: type('EnvFromSource', 'core'),
    imagePullSecrets: type('LocalObjectReference', 'core'),
    podTemplate: type('PodTemplateSpec', 'core'),
    resources: type('ResourceRequirements', 'core'),
    tolerations: type('Toleration', 'core'),
    volumeMounts: type('VolumeMount', 'core'),
    volumes: type('Volume', 'core'),
  },
  status: { conditions: type('Condition', 'meta') },
}

/** The type of Kubernetes that the field at `path` has; undefined for a field of our own. */
export function kubernetesType(path: string): KubernetesType | undefined {
  const [section = '', ...names] = path.split('.')
  return kubernetesTypes[section]?.[names.at(-1) ?? '']
}

const MAX_LISTED = 12

/** The fields of the type that our schema has, as paths: all of them if they are few, otherwise those of the first level. */
export function supportedFields(schema: JsonSchema): string[] {
  const all = leaves(schema, '')
  return all.length <= MAX_LISTED ? all : Object.keys(propertiesOf(schema))
}

const propertiesOf = (schema: JsonSchema) => schema.properties ?? schema.items?.properties ?? {}

function leaves(schema: JsonSchema, prefix: string): string[] {
  const children = Object.entries(propertiesOf(schema))
  if (children.length === 0) return [prefix]
  return children.flatMap(([name, child]) => leaves(child, prefix === '' ? name : `${prefix}.${name}`))
}
