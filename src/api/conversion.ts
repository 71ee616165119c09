/**
 * Lossless conversion of TrainingJob between v1alpha1 and v1.
 *
 * v1 has a field for everything in v1alpha1, so v1alpha1 is a *view* of v1. The v1 fields that the view hides are stored
 * in an annotation of the v1alpha1 object, as edits from the minimal v1 job with that view to the original. On the way
 * back, an edit is applied only if the view stays equal to what the v1alpha1 client wrote, so changes by the client win.
 *
 * Guarantees, for all objects:
 * - toV1(toV1alpha1(job)) equals job.
 * - toV1alpha1(toV1(alpha)) equals alpha, if the annotation was written by toV1alpha1.
 * - An annotation from another source can neither change the view nor produce a job that violates the v1 schema.
 */

import type { TSchema } from 'typebox'
import { type Body, shownFields, toAlphaBody, toMinimalV1Body } from './alpha-view.ts'
import { withDefaults } from './defaults.ts'
import { applyEdits, diff, type Edits, formatEdits, parseEdits, splitPointer } from './edits.ts'
import { compact, isJsonObject, type JsonObject, own, sameJson } from './json.ts'
import { plain } from './structural.ts'
import { type TrainingJob, trainingJobV1 } from './trainingjob.v1.ts'
import type { AlphaTrainingJob } from './trainingjob.v1alpha1.ts'
import { fits } from './validity.ts'

/** Annotation of a v1alpha1 object with the fields that only v1 has: JSON pointer → value, `null` for a removed field. */
export const HIDDEN_FIELDS = 'ml.example.com/v1-fields'

export function toV1(alpha: AlphaTrainingJob): TrainingJob {
  const { [HIDDEN_FIELDS]: annotation, ...annotations } = getAnnotations(alpha)
  const seen = getBody(alpha)
  const edits = dropElasticIfScaled(parseHiddenFields(annotation), seen)
  const body = applyFaithfulEdits(buildDefaultedBody(seen), edits, seen)
  return assemble(alpha, 'v1', body, annotations) as TrainingJob // eslint-disable-line typescript/no-unsafe-type-assertion -- the API server validates, and the body satisfies the schema
}

export function toV1alpha1(job: TrainingJob): AlphaTrainingJob {
  const body = getBody(job)
  const seen = toAlphaBody(body)
  const hidden = [...diff({ ...buildDefaultedBody(seen) }, { ...body }, WHOLE), ...recordFixedSize(body)]
  const annotations = { ...getAnnotations(job) }
  if (hidden.length > 0) annotations[HIDDEN_FIELDS] = formatEdits(hidden)
  return assemble(job, 'v1alpha1', seen, annotations) as AlphaTrainingJob // eslint-disable-line typescript/no-unsafe-type-assertion -- a view has the fields of v1alpha1 only
}

/** A pod template is stored as it is: fields that the schema does not declare may be null. */
const WHOLE: ReadonlySet<string> = new Set(['/spec/podTemplate'])

/** Ignores an annotation that is invalid or not ours, so that the job stays readable. */
function parseHiddenFields(annotation: unknown): Edits {
  return parseEdits(annotation).filter(([at]) => at.startsWith('/spec/') || at.startsWith('/status/'))
}

/** Builds the smallest v1 job with the view, with those v1 defaults that do not change the view. */
function buildDefaultedBody(seen: Body): Body {
  const minimal = toMinimalV1Body(seen)
  if (minimal.spec === undefined) return minimal
  const filled = { ...minimal, spec: withDefaults(trainingJobV1.spec, minimal.spec) }
  return applyFaithfulEdits(minimal, diff({ ...minimal }, filled), seen)
}

/** Applies the edits that leave the view unchanged. Usually these are all edits, so all are tried together first. */
function applyFaithfulEdits(body: Body, edits: Edits, seen: Body): Body {
  const all = applyEdits({ ...body }, edits)
  if (isFaithful(all, seen)) return all
  const byField = Map.groupBy(edits, ([at]) => truncateToField(at))
  const kept = [...byField].flatMap(([at, group]) => selectFaithfulEdits(body, at, group))
  return applyEdits({ ...body }, kept)
}

/** Returns `/spec/name` for `/spec/name/and/more`. */
function truncateToField(at: string): string {
  const end = at.indexOf('/', at.indexOf('/', 1) + 1)
  return end === -1 ? at : at.slice(0, end)
}

function isFaithful(body: Body, seen: Body): boolean {
  return (
    sameJson(toAlphaBody(body), seen) &&
    (body.spec === undefined || (fits(trainingJobV1.spec, body.spec) && hasRoom(body.spec))) &&
    (body.status === undefined || fits(trainingJobV1.status, body.status))
  )
}

/** Whether the visible number of workers is within the hidden elastic bounds. */
function hasRoom({ elastic, numWorkers }: JsonObject): boolean {
  if (!isJsonObject(elastic) || typeof numWorkers !== 'number') return true
  const { minWorkers = 1, maxWorkers } = elastic
  return (
    typeof minWorkers === 'number' &&
    typeof maxWorkers === 'number' &&
    minWorkers <= numWorkers &&
    numWorkers <= maxWorkers
  )
}

/** Maximum number of edits of a field that are tried one by one. No job that we convert has more in such a field. */
const MAX_TRIES = 64

/** Returns the edits of the field at `at` that leave the view unchanged. Compares that field only, to keep each try cheap. */
function selectFaithfulEdits(body: Body, at: string, edits: Edits): Edits {
  if (shownFields.has(at)) return []
  const field = getField(body, at)
  if (field.schema === undefined) return body[field.section] === undefined ? [] : edits
  if (isFaithfulField(field, edits)) return edits
  if (edits.length > MAX_TRIES) return []
  return edits.reduce<Edits>((kept, edit) => (isFaithfulField(field, [...kept, edit]) ? [...kept, edit] : kept), [])
}

/** A field, and a body that contains only this field. */
interface Field {
  readonly section: 'spec' | 'status'
  readonly name: string
  /** Undefined for a field that this release does not know, for example with a newer CRD. Such a field is never visible. */
  readonly schema: TSchema | undefined
  readonly body: Body
}

function getField(body: Body, at: string): Field {
  const [section, name = ''] = splitPointer(at)
  if (section !== 'spec' && section !== 'status') throw new Error(`${at} is neither in spec nor in status`)
  const whole = body[section]
  const { numWorkers } = body.spec ?? {}
  const alone = whole && compact({ [name]: own(whole, name), ...(name === 'elastic' && { numWorkers }) })
  const schemas: Readonly<Record<string, TSchema>> = trainingJobV1[section].properties
  const schema = Object.hasOwn(schemas, name) ? schemas[name] : undefined
  return { section, name, schema, body: compact({ [section]: alone }) }
}

function isFaithfulField({ section, name, schema = {}, body }: Field, edits: Edits): boolean {
  const after: Body = applyEdits({ ...body }, edits)
  const value = own(after[section] ?? {}, name)
  return (
    sameJson(toAlphaBody(after), toAlphaBody(body)) &&
    (value === undefined ? !required[section].has(name) : fits(schema, value)) &&
    hasRoom(after.spec ?? {})
  )
}

const required = {
  spec: new Set(plain(trainingJobV1.spec).required),
  status: new Set(plain(trainingJobV1.status).required),
}

const SIZE = '/spec/numWorkers'

/** Records the number of workers of a job that may not change it, although it is visible, to detect a change by the client. */
function recordFixedSize({ spec }: Body): Edits {
  const isFixed = spec !== undefined && spec['elastic'] === undefined && spec['suspend'] !== true
  return isFixed && typeof spec['numWorkers'] === 'number' ? [[SIZE, spec['numWorkers']]] : []
}

/** A v1alpha1 client may scale any job. A job that was not elastic becomes elastic, as if it was created in v1alpha1. */
function dropElasticIfScaled(edits: Edits, { spec }: Body): Edits {
  const [, size] = edits.find(([at]) => at === SIZE) ?? []
  if (size === undefined || size === spec?.['workers']) return edits
  return edits.filter(([at]) => at !== '/spec/elastic')
}

function getBody(object: { readonly spec?: unknown; readonly status?: unknown }): Body {
  return compact({
    spec: isJsonObject(object.spec) ? object.spec : undefined,
    status: isJsonObject(object.status) ? object.status : undefined,
  })
}

function getAnnotations({ metadata }: AlphaTrainingJob | TrainingJob): Readonly<Record<string, string>> {
  return isJsonObject(metadata.annotations) ? metadata.annotations : {}
}

function assemble(
  object: AlphaTrainingJob | TrainingJob,
  version: string,
  body: Body,
  annotations: Readonly<Record<string, string>>,
): object {
  const { annotations: _before, ...metadata } = object.metadata
  const isBare = Object.keys(annotations).length === 0
  return {
    ...object,
    apiVersion: `ml.example.com/${version}`,
    metadata: isBare ? metadata : { ...metadata, annotations },
    ...body,
  }
}
