/**
 * The JSON schema of the operator's configuration. The settings and their types follow from the defaults, as the operator checks
 * them; the table below has what a default does not tell. A setting that is missing there is still checked for its type.
 */

import { operatorConfig } from '../../src/operator-config.ts'
import { figureNames } from '../../src/plan/traffic/index.ts'
import { retentions } from '../../src/plan/training/index.ts'
import type { JsonSchema } from './json-schema.ts'
import { STRINGS } from './json-schema.ts'

const QUANTITY: JsonSchema = { type: ['string', 'number'] }
const QUANTITIES: JsonSchema = { type: 'object', additionalProperties: QUANTITY }
const RESOURCES: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  properties: { requests: QUANTITIES, limits: QUANTITIES },
}
const TOLERATIONS: JsonSchema = {
  type: 'array',
  items: {
    type: 'object',
    additionalProperties: false,
    properties: {
      key: { type: 'string' },
      operator: { enum: ['Exists', 'Equal'] },
      value: { type: 'string' },
      effect: { enum: ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] },
      tolerationSeconds: { type: 'integer' },
    },
  },
}
const NAMES: JsonSchema = { type: 'array', items: { type: 'string' } }
const COUNT: JsonSchema = { type: 'integer', minimum: 0 }
const PORT: JsonSchema = { type: 'integer', minimum: 1, maximum: 65_535 }

const PRICE: JsonSchema = { type: 'number', minimum: 0 }
const COST: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    currency: { type: 'string', pattern: '^[A-Z]{3}$' },
    prices: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        properties: {
          nodeLabels: STRINGS,
          spot: { type: 'boolean' },
          gpuHour: PRICE,
          cpuHour: PRICE,
          memoryGiBHour: PRICE,
        },
      },
    },
  },
}

const QUERIES: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['scopeLabel', 'scopeValue', ...figureNames],
  properties: Object.fromEntries(
    ['scopeLabel', 'scopeValue', ...figureNames].map((name) => [name, { type: 'string' }]),
  ),
}

/** By the end of the name: settings of the same kind have the same type. */
const kinds: readonly (readonly [RegExp, JsonSchema])[] = [
  [/Resources$/, RESOURCES],
  [/Tolerations$/, TOLERATIONS],
  [/(Ms|Seconds)$/, COUNT],
  [/Replicas$/, { type: 'integer', minimum: 1 }],
  [/Port$/, PORT],
  [/Queries$/, QUERIES],
]

/** By name, in both parts of the configuration. */
const types: Readonly<Record<string, JsonSchema>> = {
  defaultImages: STRINGS,
  gangSchedulerNames: STRINGS,
  gpuNodeSelector: STRINGS,
  spotLabels: { ...STRINGS, minProperties: 1 },
  cost: COST,
  history: {
    type: 'object',
    additionalProperties: false,
    required: ['enabled'],
    properties: { enabled: { type: 'boolean' }, retention: { enum: [...retentions] } },
  },
  checkpointAccessMode: { enum: ['Auto', 'ReadWriteMany', 'ReadWriteOnce'] },
  user: { anyOf: [{ type: 'integer', minimum: 1 }, { enum: ['cluster'] }] },
  allowedHostnames: allowances('hostnames'),
  allowedGateways: allowances('gateways'),
  runtimes: {
    type: 'object',
    additionalProperties: {
      type: 'object',
      additionalProperties: false,
      properties: { image: { type: 'string', minLength: 1 }, args: NAMES },
    },
  },
  metricNames: STRINGS,
  labels: STRINGS,
  gpuExporterPort: { type: 'integer', minimum: 0, maximum: 65_535 },
}

/** Which namespaces may use which names. */
function allowances(names: string): JsonSchema {
  const items = {
    type: 'object',
    additionalProperties: false,
    required: ['namespaces', names],
    properties: { namespaces: NAMES, [names]: NAMES },
  }
  return { type: 'array', items }
}

export function configSchema(): JsonSchema {
  const parts = Object.entries(operatorConfig({})).map(([part, settings]) => [part, partSchema(settings as object)])
  return { type: 'object', additionalProperties: false, properties: Object.fromEntries(parts) }
}

function partSchema(defaults: object): JsonSchema {
  const settings = Object.entries(defaults).map(([name, value]) => [name, typeOf(name, value)])
  return { type: 'object', additionalProperties: false, properties: Object.fromEntries(settings) }
}

function typeOf(name: string, value: unknown): JsonSchema {
  const known = types[name] ?? kinds.find(([pattern]) => pattern.test(name))?.[1]
  if (known) return known
  if (!Array.isArray(value)) return { type: typeof value }
  return value.length > 0 && value.every((one) => typeof one === 'string') ? NAMES : { type: 'array' }
}
