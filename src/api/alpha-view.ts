/**
 * v1alpha1 as a view of v1. `toAlphaBody` selects the fields of a v1 job that v1alpha1 has. `toMinimalV1Body` builds the
 * smallest v1 job with a given view. Each v1 field is mapped independently of the others.
 */

import { compact, isJsonObject, type JsonObject } from './json.ts'
import type { TrainingJobState } from './training-status.ts'
import { MAX_ALPHA_WORKERS, type TrainingJobPhase } from './trainingjob.v1alpha1.ts'

/** `status.state` (v1) and `status.phase` (v1alpha1) have the same meaning; v1 has more values. */
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

/** The part of an object that conversion changes. Spec or status may be missing while the API server merges patches. */
export interface Body {
  readonly spec?: JsonObject
  readonly status?: JsonObject
}

/** Fields with the same name and meaning in both versions. */
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

/** v1 fields that v1alpha1 shows completely. */
export const shownFields: ReadonlySet<string> = new Set([
  ...[...sharedSpec, 'numWorkers', 'gpusPerWorker'].map((name) => `/spec/${name}`),
  ...sharedStatus.map((name) => `/status/${name}`),
])

/** Returns the fields of a v1 job that v1alpha1 has. */
export function toAlphaBody({ spec, status }: Body): Body {
  return compact({
    spec: spec && {
      ...pick(spec, sharedSpec),
      ...compact({ workers: spec['numWorkers'], gpuPerWorker: spec['gpusPerWorker'] }),
      ...toAlphaCheckpoint(spec['checkpoint']),
    },
    status: status && {
      ...pick(status, sharedStatus),
      ...compact({ phase: translate(phaseOfState, status['state']) }),
    },
  })
}

/** v1alpha1 supports only checkpoints on a volume. */
function toAlphaCheckpoint(checkpoint: unknown): JsonObject {
  if (!isJsonObject(checkpoint)) return {}
  const storage = isJsonObject(checkpoint['storage']) ? checkpoint['storage'] : {}
  const isDirectory = checkpoint['enabled'] !== false && (storage['type'] ?? 'pvc') === 'pvc'
  return compact({
    checkpointInterval: checkpoint['frequency'],
    checkpointDir: isDirectory ? storage['path'] : undefined,
  })
}

/** Returns the smallest v1 job with the given view. It is elastic, because `workers` of a v1alpha1 job may always change. */
export function toMinimalV1Body({ spec, status }: Body): Body {
  return compact({
    spec: spec && {
      ...pick(spec, sharedSpec),
      ...compact({ numWorkers: spec['workers'], gpusPerWorker: spec['gpuPerWorker'] }),
      elastic: {
        minWorkers: 1,
        maxWorkers: Math.max(MAX_ALPHA_WORKERS, typeof spec['workers'] === 'number' ? spec['workers'] : 1),
      },
      checkpoint: toV1Checkpoint(spec),
    },
    status: status && {
      ...pick(status, sharedStatus),
      ...compact({ state: translate(stateOfPhase, status['phase']) }),
    },
  })
}

function toV1Checkpoint({ checkpointDir, checkpointInterval }: JsonObject): JsonObject {
  return compact({
    enabled: checkpointDir !== undefined,
    frequency: checkpointInterval,
    storage: checkpointDir === undefined ? undefined : { type: 'pvc', path: checkpointDir },
  })
}

function translate(table: Readonly<Record<string, string>>, word: unknown): string | undefined {
  return typeof word === 'string' && Object.hasOwn(table, word) ? table[word] : undefined
}

function pick(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.filter((name) => object[name] !== undefined).map((name) => [name, object[name]]))
}
