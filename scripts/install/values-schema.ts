/**
 * The JSON schema of the chart's values. Names, descriptions and plain types follow from values.yaml; the table below has what a
 * default does not tell. `config` follows from the configuration of the operator.
 */

import type { ChartValue } from './chart-values.ts'
import { configSchema } from './config-schema.ts'
import type { JsonSchema } from './json-schema.ts'
import { STRINGS } from './json-schema.ts'

const ANY_MAP: JsonSchema = { type: 'object' }
const MAPS: JsonSchema = { type: 'array', items: ANY_MAP }
const name = (maxLength: number): JsonSchema => ({
  type: 'string',
  maxLength,
  pattern: '^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$',
})
const NAMESPACE: JsonSchema = { type: 'string', minLength: 1, ...name(63), pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' }

/** By path. A map in this table is one value: its entries are not listed. */
const types: Readonly<Record<string, JsonSchema>> = {
  nameOverride: name(63),
  // Room for the suffixes of object names and for the names of the test's pods.
  fullnameOverride: name(40),
  'image.repository': { type: 'string', minLength: 1 },
  'image.digest': { type: 'string', pattern: '^(sha256:[0-9a-f]{64})?$' },
  'image.pullPolicy': { enum: ['Always', 'IfNotPresent', 'Never'] },
  imagePullSecrets: {
    type: 'array',
    items: {
      type: 'object',
      additionalProperties: false,
      required: ['name'],
      properties: { name: { type: 'string' } },
    },
  },
  replicas: { type: 'integer', minimum: 1 },
  watchNamespaces: { type: 'array', uniqueItems: true, items: NAMESPACE },
  'crds.annotations': STRINGS,
  'webhook.certificate.certManager.issuerRef': {
    type: 'object',
    additionalProperties: false,
    properties: { name: { type: 'string' }, kind: { type: 'string' }, group: { type: 'string' } },
  },
  'networkPolicy.extraEgress': MAPS,
  'serviceAccount.annotations': STRINGS,
  'monitoring.labels': STRINGS,
  'monitoring.interval': { type: 'string', pattern: '^[0-9]+(ms|s|m|h)$' },
  logLevel: { enum: ['fatal', 'error', 'warn', 'info', 'debug', 'trace'] },
  concurrency: { type: 'integer', minimum: 1, maximum: 1024 },
  extraArgs: { type: 'array', items: { type: 'string', pattern: '^-' } },
  extraEnv: { type: 'array', items: { type: 'object', required: ['name'] } },
  extraVolumes: { type: 'array', items: { type: 'object', required: ['name'] } },
  extraVolumeMounts: { type: 'array', items: { type: 'object', required: ['name', 'mountPath'] } },
  resources: {
    type: 'object',
    properties: { requests: ANY_MAP, limits: ANY_MAP, claims: MAPS },
    additionalProperties: false,
  },
  podLabels: STRINGS,
  podAnnotations: STRINGS,
  podSecurityContext: ANY_MAP,
  securityContext: ANY_MAP,
  startupProbe: ANY_MAP,
  livenessProbe: ANY_MAP,
  readinessProbe: ANY_MAP,
  nodeSelector: STRINGS,
  tolerations: MAPS,
  affinity: ANY_MAP,
  'tests.timeoutSeconds': { type: 'integer', minimum: 1, maximum: 86_400 },
}

/** Whether a map is one value for users, not a group of values. */
export const isOneValue = (path: string): boolean => path in types || path === 'config'

export function valuesSchema(values: readonly ChartValue[]): JsonSchema {
  const unknown = Object.keys(types).filter((path) => !flattened(values).includes(path))
  if (unknown.length > 0) throw new Error(`values.yaml has no ${unknown.join(', ')}`)
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the chart ml-operator',
    ...groupOf(values),
    // Helm passes these to every chart.
    properties: { ...properties(values), global: ANY_MAP },
  }
}

const flattened = (values: readonly ChartValue[]): string[] =>
  values.flatMap(({ path, children }) => [path, ...flattened(children)])

const groupOf = (values: readonly ChartValue[]): JsonSchema => ({
  type: 'object',
  additionalProperties: false,
  properties: properties(values),
})

function properties(values: readonly ChartValue[]): Record<string, JsonSchema> {
  return Object.fromEntries(
    values.map((value) => [
      value.path.split('.').at(-1) ?? '',
      { ...(value.description !== '' && { description: value.description }), ...typeOf(value) },
    ]),
  )
}

function typeOf({ path, fallback, children }: ChartValue): JsonSchema {
  if (path === 'config') return configSchema()
  const known = types[path]
  if (known) return known
  if (children.length > 0) return groupOf(children)
  if (typeof fallback === 'string' || typeof fallback === 'boolean') return { type: typeof fallback }
  throw new Error(`the default of ${path} does not tell its type: add it to scripts/install/values-schema.ts`)
}
