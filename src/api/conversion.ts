/**
 * TrainingJob v1alpha1 ↔ v1 without loss.
 *
 * v1 can say everything v1alpha1 can, so v1alpha1 is a *view* of v1: `view` shows what of a v1 job v1alpha1 has words
 * for, `draft` is the plainest v1 job with a given view. What a view hides travels with the v1alpha1 object in an
 * annotation, as the edits that lead from the draft back to the original. On the way back an edit is made only if
 * the view stays exactly what the v1alpha1 client wrote, so a change made there always wins.
 *
 * Guarantees, for any objects: toV1(toV1alpha1(job)) equals job; toV1alpha1(toV1(alpha)) equals alpha, if the
 * annotation in it is one that we wrote; an annotation that others wrote can neither change what the client
 * sees nor produce a job that does not fit the v1 schema.
 */

import { withDefaults } from './defaults.ts'
import { diff, edited, type Edits } from './edits.ts'
import { compact, isJsonObject, type JsonObject, sameJson } from './json.ts'
import type { AlphaTrainingJob, TrainingJobPhase } from './trainingjob.v1alpha1.ts'
import { MAX_ALPHA_WORKERS } from './trainingjob.v1alpha1.ts'
import { type TrainingJob, trainingJobV1 } from './trainingjob.v1.ts'
import type { TrainingJobState } from './training-status.ts'
import { fits } from './validity.ts'

/** Holds, on a v1alpha1 object, what only v1 has words for: JSON pointer → value, `null` for what is absent. */
export const HIDDEN_FIELDS = 'ml.example.com/v1-fields'

/** State (v1) and phase (v1alpha1) are two names for one thing; v1 tells more apart. */
export const phaseOfState: Readonly<Record<TrainingJobState, TrainingJobPhase>> = {
  Pending: 'Pending',
  Initializing: 'Pending',
  Suspending: 'Pending',
  Suspended: 'Pending',
  Running: 'Running',
  Restarting: 'Running',
  Completed: 'Succeeded',
  Failed: 'Failed',
}

export const stateOfPhase: Readonly<Record<TrainingJobPhase, TrainingJobState>> = {
  Pending: 'Pending',
  Running: 'Running',
  Succeeded: 'Completed',
  Failed: 'Failed',
}

/** The part of an object that conversion changes. Either half may be missing while the server merges changes. */
interface Body {
  readonly spec?: JsonObject
  readonly status?: JsonObject
}

export function toV1(alpha: AlphaTrainingJob): TrainingJob {
  const { [HIDDEN_FIELDS]: hidden, ...annotations } = alpha.metadata.annotations ?? {}
  const seen = bodyOf(alpha)
  const body = refined(defaulted(seen), unlessScaled(parseEdits(hidden), seen), seen)
  return assembled(alpha, 'v1', body, annotations) as TrainingJob // eslint-disable-line typescript/no-unsafe-type-assertion -- the server validates, and drafts fit the schema
}

export function toV1alpha1(job: TrainingJob): AlphaTrainingJob {
  const body = bodyOf(job)
  const seen = view(body)
  const hidden = { ...diff({ ...defaulted(seen) }, { ...body }), ...fixedSize(body) }
  const annotations = { ...job.metadata.annotations }
  if (Object.keys(hidden).length > 0) annotations[HIDDEN_FIELDS] = JSON.stringify(hidden)
  return assembled(job, 'v1alpha1', seen, annotations) as AlphaTrainingJob // eslint-disable-line typescript/no-unsafe-type-assertion -- a view has the fields of v1alpha1 only
}

/** The draft of a view, with those v1 defaults that do not show. */
function defaulted(seen: Body): Body {
  const plainest = draft(seen)
  if (plainest.spec === undefined) return plainest
  const filled = { ...plainest, spec: withDefaults(trainingJobV1.spec, plainest.spec) }
  return refined(plainest, diff({ ...plainest }, filled), seen)
}

/** `body` with all edits that leave the view as it is: usually every one of them, so they are tried together first. */
function refined(body: Body, edits: Edits, seen: Body): Body {
  const all = edited({ ...body }, edits)
  if (isFaithful(all, seen)) return all
  return Object.entries(edits).reduce<Body>((result, [at, value]) => {
    const next = edited({ ...result }, { [at]: value })
    return isFaithful(next, seen) ? next : result
  }, body)
}

function isFaithful(body: Body, seen: Body): boolean {
  return (
    sameJson(view(body), seen) &&
    (body.spec === undefined || (fits(trainingJobV1.spec, body.spec) && hasRoom(body.spec))) &&
    (body.status === undefined || fits(trainingJobV1.status, body.status))
  )
}

/** The workers that a client sees and the bounds it does not see have to agree. */
function hasRoom({ elastic, numWorkers }: JsonObject): boolean {
  if (!isJsonObject(elastic) || typeof numWorkers !== 'number') return true
  return Number(elastic['minWorkers'] ?? 1) <= numWorkers && numWorkers <= Number(elastic['maxWorkers'])
}

const SIZE = '/spec/numWorkers'

/** The size of a job that may not change it: kept, though it shows, to tell later whether somebody did. */
function fixedSize({ spec }: Body): Edits {
  const isFixed = spec !== undefined && spec['elastic'] === undefined && spec['suspend'] !== true
  return isFixed && typeof spec['numWorkers'] === 'number' ? { [SIZE]: spec['numWorkers'] } : {}
}

/** A v1alpha1 client may scale any job. One that was not elastic becomes so, as if it had been created there. */
function unlessScaled(edits: Edits, { spec }: Body): Edits {
  if (edits[SIZE] === undefined || edits[SIZE] === spec?.['workers']) return edits
  const { '/spec/elastic': _fixed, ...others } = edits
  return others
}

/** Fields that both versions have, under the same name and with the same meaning. */
const sharedSpec = [
  'framework',
  'image',
  'command',
  'args',
  'hyperparameters',
  'dataVolume',
  'resources',
  'restartPolicy',
]
const sharedStatus = ['startTime', 'completionTime', 'workerStatuses', 'observedGeneration', 'conditions']

/** What v1alpha1 shows of a v1 job. */
function view({ spec, status }: Body): Body {
  return compact({
    spec: spec && {
      ...pick(spec, sharedSpec),
      ...compact({ workers: spec['numWorkers'], gpuPerWorker: spec['gpusPerWorker'] }),
      ...viewOfCheckpoint(spec['checkpoint']),
    },
    status: status && {
      ...pick(status, sharedStatus),
      ...compact({ phase: translated(phaseOfState, status['state']) }),
    },
  })
}

/** Only a directory on a volume has a name in v1alpha1. */
function viewOfCheckpoint(checkpoint: unknown): JsonObject {
  if (!isJsonObject(checkpoint)) return {}
  const storage = isJsonObject(checkpoint['storage']) ? checkpoint['storage'] : {}
  const isDirectory = checkpoint['enabled'] !== false && (storage['type'] ?? 'pvc') === 'pvc'
  return compact({
    checkpointInterval: checkpoint['frequency'],
    checkpointDir: isDirectory ? storage['path'] : undefined,
  })
}

/** The plainest v1 job that looks like this. The number of workers of a v1alpha1 job may always change: it is elastic. */
function draft({ spec, status }: Body): Body {
  return compact({
    spec: spec && {
      ...pick(spec, sharedSpec),
      ...compact({ numWorkers: spec['workers'], gpusPerWorker: spec['gpuPerWorker'] }),
      elastic: { minWorkers: 1, maxWorkers: Math.max(MAX_ALPHA_WORKERS, Number(spec['workers']) || 1) },
      checkpoint: draftOfCheckpoint(spec),
    },
    status: status && {
      ...pick(status, sharedStatus),
      ...compact({ state: translated(stateOfPhase, status['phase']) }),
    },
  })
}

function draftOfCheckpoint({ checkpointDir, checkpointInterval }: JsonObject): JsonObject {
  return compact({
    enabled: checkpointDir !== undefined,
    frequency: checkpointInterval,
    storage: checkpointDir === undefined ? undefined : { type: 'pvc', path: checkpointDir },
  })
}

function translated(table: Readonly<Record<string, string>>, word: unknown): string | undefined {
  return typeof word === 'string' ? table[word] : undefined
}

function pick(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.filter((name) => object[name] !== undefined).map((name) => [name, object[name]]))
}

function bodyOf(object: { readonly spec?: unknown; readonly status?: unknown }): Body {
  return compact({
    spec: isJsonObject(object.spec) ? object.spec : undefined,
    status: isJsonObject(object.status) ? object.status : undefined,
  })
}

function assembled(
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

/** What is not ours, or no longer readable, hides nothing. */
function parseEdits(annotation: string | undefined): Edits {
  try {
    const edits: unknown = JSON.parse(annotation ?? '{}')
    if (!isJsonObject(edits)) return {}
    return Object.fromEntries(
      Object.entries(edits).flatMap(([at, value]) =>
        value !== undefined && /^\/(spec|status)\//.test(at) ? [[at, value]] : [],
      ),
    )
  } catch {
    return {}
  }
}
