/**
 * Every edit of a live object: each field changed and removed, an entry added to each list and map, each absent field set.
 * Walks the object along the schema that the API server publishes.
 */
import type { KubeObject } from '../../src/kube/object.ts'
import { type JsonPatchOperation, minimalValues, otherValues } from './other-value.ts'
import type { ResolvedSchema } from './openapi.ts'

export interface HandEdit {
  readonly what: 'change' | 'remove' | 'add'
  /** `spec.template.spec.containers[0].image`; a key that was added ends with `{}`, an item with `[]`. */
  readonly path: string
  /** Tried in this order: the first that the API server accepts is the edit. */
  readonly candidates: readonly JsonPatchOperation[]
}

type Steps = readonly (string | number)[]
type Visit = (edit: HandEdit) => void

/** Fields of the API server. */
const SERVER_FIELDS = new Set([
  'name',
  'generateName',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
  'selfLink',
])

export function handEdits(object: KubeObject, schema: ResolvedSchema): HandEdit[] {
  const edits: HandEdit[] = []
  const visit: Visit = (edit) => void edits.push(edit)
  const record = object as unknown as Readonly<Record<string, unknown>>
  const skipped = new Set(['apiVersion', 'kind', 'status', 'metadata'])
  walkObject(record, schema, [], { visit, skipped })
  const metadata = schema.property('metadata')
  if (metadata) walkObject(record['metadata'] as object, metadata, ['metadata'], { visit, skipped: SERVER_FIELDS })
  return edits
}

interface Walk {
  readonly visit: Visit
  readonly skipped?: ReadonlySet<string>
}

function walk(value: unknown, schema: ResolvedSchema, at: Steps, { visit }: Walk): void {
  const path = pathOf(at)
  visit({ what: 'remove', path, candidates: [{ op: 'remove', path: pointerOf(at) }] })
  if (Array.isArray(value)) walkList(value, schema, at, { visit })
  else if (typeof value === 'object' && value !== null) walkObject(value, schema, at, { visit })
  else {
    const others = otherValues(value, schema)
    visit({ what: 'change', path, candidates: others.map((other) => replace(at, other)) })
  }
}

function walkObject(value: object, schema: ResolvedSchema, at: Steps, walking: Walk): void {
  const { visit, skipped = new Set() } = walking
  for (const [name, member] of Object.entries(value)) {
    const below = schema.property(name) ?? schema.values
    if (below && !skipped.has(name)) walk(member, below, [...at, name], { visit })
  }
  for (const [name, below] of schema.properties) {
    if (name in value || skipped.has(name)) continue
    const candidates = minimalValues(below).map((entry) => add([...at, name], entry))
    visit({ what: 'add', path: pathOf([...at, name]), candidates })
  }
  if (schema.values || schema.node.properties === undefined) addKey(schema, at, visit)
}

function addKey({ values }: ResolvedSchema, at: Steps, visit: Visit): void {
  const fresh = values ? minimalValues(values) : ['added']
  const keys = ['example.com/added', 'added']
  const candidates = keys.flatMap((key) => fresh.map((entry) => add([...at, key], entry)))
  visit({ what: 'add', path: `${pathOf(at)}{}`, candidates })
}

function walkList(list: readonly unknown[], schema: ResolvedSchema, at: Steps, { visit }: Walk): void {
  const { items } = schema
  if (!items) return
  for (const [index, item] of list.entries()) walk(item, items, [...at, index], { visit })
  const copies = list.length > 0 ? renamed(list.at(-1)) : []
  const candidates = [...copies, ...minimalValues(items)].map((item) => add([...at, '-'], item))
  visit({ what: 'add', path: `${pathOf(at)}[]`, candidates })
}

/** A copy of an item with another identity. */
function renamed(item: unknown): unknown[] {
  if (typeof item === 'string') return [`${item}-added`]
  if (typeof item !== 'object' || item === null) return []
  const copy: Record<string, unknown> = { ...item }
  for (const [name, value] of Object.entries(copy)) {
    if (['name', 'key', 'mountPath'].includes(name)) copy[name] = `${String(value)}-added`
    if (['port', 'containerPort', 'number'].includes(name) && typeof value === 'number') copy[name] = value + 7
  }
  return [copy]
}

const add = (at: Steps, value: unknown): JsonPatchOperation => ({ op: 'add', path: pointerOf(at), value })
const replace = (at: Steps, value: unknown): JsonPatchOperation => ({ op: 'replace', path: pointerOf(at), value })

const pointerOf = (at: Steps): string =>
  at.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

export function pathOf(at: Steps): string {
  return at.map((step, index) => (typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`)).join('')
}
