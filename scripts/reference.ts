/**
 * The API reference: an index, and a page for each kind with the type, default, limits, description and an example of every
 * field. A field with a type of Kubernetes has one row, with a link to that type.
 */

import { objectSchema } from '../src/api/crd.ts'
import { crdName, type Kind, type KindVersion } from '../src/api/kind.ts'
import { CATEGORY, GROUP } from '../src/api/kinds.ts'
import { type JsonSchema, plain } from '../src/api/structural.ts'
import { kubernetesType, supportedFields } from './kubernetes-types.ts'

const FOLDER = 'reference'

/** Path below `docs` → content. */
export function referencePages(kinds: readonly Kind[]): ReadonlyMap<string, string> {
  return new Map([
    ['CRD_REFERENCE.md', `${INTRODUCTION}\n\n${contents(kinds)}\n`],
    ...kinds.map((kind) => [`${FOLDER}/${fileName(kind)}`, kindPage(kind)] as const),
  ])
}

const INTRODUCTION = `# API reference

Each kind has a page with all its fields. \`kubectl explain <kind> --recursive\` shows the same from a cluster. For completion
and validation in an editor, use the files in \`schemas/\` (first line of a manifest:
\`# yaml-language-server: $schema=…/schemas/trainingjob-ml.example.com-v1.json\`).

Fields marked *required* must be set. All other fields are optional and have the listed default, if any. The API server
evaluates **rules** when an object is created or updated, and rejects manifests that violate one. The condition \`Limited\` of an
object lists fields that are accepted but have no effect yet.

A field that has a type of Kubernetes, such as \`affinity\`, has one row with a link to the Kubernetes API reference. If only some
fields of the type are supported, the row lists them.`

/** The group is part of the name where it is not the main group, because two groups have a ModelDeployment. */
const fileName = ({ group, kind }: Kind): string =>
  `${group === GROUP ? '' : `${group.split('.')[0]}-`}${kind.toLowerCase()}.md`

function contents(kinds: readonly Kind[]): string {
  const lines = kinds.flatMap((kind) =>
    kind.versions.map((version) => {
      const title = heading(kind, version)
      return `- [${title}](${FOLDER}/${fileName(kind)}#${anchor(title)}): ${version.description}`
    }),
  )
  return lines.join('\n')
}

function kindPage(kind: Kind): string {
  const sections = kind.versions.map((version) => versionSection(kind, version))
  const title = `# ${kind.kind} (\`${kind.group}\`)`
  return `${[title, 'See [the index](../CRD_REFERENCE.md) for all kinds and how to read this page.', ...sections].join('\n\n')}\n`
}

const heading = (kind: Kind, version: KindVersion): string => `${kind.kind} \`${kind.group}/${version.name}\``

/** As GitHub derives it from a heading. */
const anchor = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(' ', '-')

function versionSection(kind: Kind, version: KindVersion): string {
  const root = objectSchema(kind, version, plain)
  return [
    `## ${heading(kind, version)}`,
    version.description,
    facts(kind, version),
    `### Rules`,
    rules(root),
    `### Spec`,
    fieldTable('spec', root.properties?.['spec'] ?? {}),
    `### Status`,
    fieldTable('status', root.properties?.['status'] ?? {}),
  ].join('\n\n')
}

function facts(kind: Kind, version: KindVersion): string {
  const short = kind.shortNames.length === 0 ? '' : `, short \`${kind.shortNames.join('`, `')}\``
  const columns = version.columns.map(({ name, wide }) => (wide ? `${name} (\`-o wide\`)` : name)).join(', ')
  return [
    `- \`kubectl get ${kind.plural}\`${short}, category \`${CATEGORY}\`; columns ${columns}`,
    `- CRD \`${crdName(kind)}\`; ${version.storage ? 'the storage version' : 'converted to and from the storage version without loss'}`,
    `- \`metadata.name\`: a DNS label that starts with a letter, at most ${kind.maxNameLength} characters`,
    ...(version.scale ? [`- \`kubectl scale\` changes \`${version.scale.specReplicasPath.slice(1)}\``] : []),
  ].join('\n')
}

interface Field {
  readonly path: string
  readonly schema: JsonSchema
  readonly required: boolean
}

/** Depth first, a parent before its children. Fields below one that `isLeaf` are omitted. */
function fields(path: string, schema: JsonSchema, isLeaf = (_path: string): boolean => false): Field[] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, child]) => {
    const field = { path: `${path}.${name}`, schema: child, required: schema.required?.includes(name) ?? false }
    return isLeaf(field.path) ? [field] : [field, ...fields(field.path, child, isLeaf)]
  })
  return [...own, ...(schema.items ? fields(`${path}[]`, schema.items, isLeaf) : [])]
}

function rules(root: JsonSchema): string {
  const nodes = [
    { path: '', schema: root },
    { path: 'spec', schema: root.properties?.['spec'] ?? {} },
  ]
  const all = [...nodes, ...fields('spec', root.properties?.['spec'] ?? {})]
  const messages = all.flatMap(
    ({ schema }) => schema['x-kubernetes-validations']?.map(({ message }) => `- ${message}`) ?? [],
  )
  return messages.length === 0 ? 'None beyond the limits below.' : [...new Set(messages)].join('\n')
}

function fieldTable(root: string, schema: JsonSchema): string {
  const isLeaf = (path: string): boolean => kubernetesType(path) !== undefined
  const rows = fields(root, schema, isLeaf).map(({ path, schema: field, required }) =>
    row([
      `\`${path}\``,
      linkedType(path, field) ?? typeOf(field),
      defaultOf(field, required),
      limits(field),
      isLeaf(path) ? `${field.description} Fields: ${codeList(supportedFields(field))}.` : (field.description ?? ''),
      example(field),
    ]),
  )
  return [
    row(['Field', 'Type', 'Default', 'Limits', 'Description', 'Example']),
    row(Array.from({ length: 6 }, () => '---')),
    ...rows,
  ].join('\n')
}

const row = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`

const codeList = (names: readonly string[]): string => names.map(code).join(', ')

function linkedType(path: string, schema: JsonSchema): string | undefined {
  const type = kubernetesType(path)
  return type && `${schema.items ? 'list of ' : ''}[${type.name}](${type.url})`
}

function typeOf(schema: JsonSchema): string {
  if (schema['x-kubernetes-int-or-string']) return 'integer or string'
  if (schema.items) return `list of ${typeOf(schema.items)}`
  if (schema.additionalProperties) return `map of ${typeOf(schema.additionalProperties)}`
  if (schema.type === undefined) return 'number or string'
  if (schema.format === 'date-time') return 'time'
  return schema.type
}

function defaultOf(schema: JsonSchema, required: boolean): string {
  if (schema.default === undefined) return required ? '*required*' : ''
  return schema.type === 'object' ? 'see below' : code(schema.default)
}

function limits(schema: JsonSchema): string {
  const { enum: values, minimum, maximum, minLength, maxLength, minItems, maxItems, maxProperties, pattern } = schema
  return [
    values && codeList(values),
    range('', minimum, maximum),
    range(' characters', minLength, maxLength),
    range(' entries', minItems, maxItems ?? maxProperties),
    pattern && `matches \`${pattern}\``,
    schema['x-kubernetes-list-map-keys'] && `unique by ${schema['x-kubernetes-list-map-keys'].join(', ')}`,
  ]
    .filter(Boolean)
    .join('; ')
}

function range(unit: string, low: number | undefined, high: number | undefined): string {
  if (low === undefined && high === undefined) return ''
  if (high === undefined) return `≥ ${low}${unit}`
  return low === undefined ? `≤ ${high}${unit}` : `${low}–${high}${unit}`
}

function example(schema: JsonSchema): string {
  const value = exampleOf(schema)
  return value === undefined ? '' : code(value)
}

/** The given example, or the default, or one composed of the fields below. */
function exampleOf(schema: JsonSchema): unknown {
  const [given] = schema.examples ?? schema.enum ?? []
  if (given !== undefined) return given
  if (schema.items) return [exampleOf(schema.items)]
  if (schema.properties) {
    return Object.fromEntries(Object.entries(schema.properties).map(([name, child]) => [name, exampleOf(child)]))
  }
  if (schema.default !== undefined && schema.default !== '') return schema.default
  return schema.format === undefined ? FALLBACK[schema.type ?? ''] : FALLBACK[schema.format]
}

const FALLBACK: Readonly<Record<string, unknown>> = {
  boolean: true,
  int32: 2,
  int64: 1,
  double: 0.5,
  'date-time': '2026-01-31T12:00:00Z',
}

const code = (value: unknown): string =>
  `\`${typeof value === 'string' && value !== '' ? value : JSON.stringify(value)}\``
