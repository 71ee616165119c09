/** Printer columns of a TrainingJob v1: those that existing tools expect first, then others. */

import { AGE, type Column } from './kind.ts'

export const trainingColumns: readonly Column[] = [
  { name: 'State', type: 'string', jsonPath: '.status.state', description: 'State of the job.' },
  { name: 'Progress', type: 'string', jsonPath: '.status.progress', description: 'Progress of the training.' },
  { name: 'Epoch', type: 'integer', jsonPath: '.status.currentEpoch', description: 'Current epoch.' },
  { name: 'Workers', type: 'integer', jsonPath: '.spec.numWorkers', description: 'Desired number of workers.' },
  AGE,
  {
    name: 'Ready',
    type: 'string',
    jsonPath: '.status.ready',
    description: 'Number of pods that run or have succeeded, and number of pods.',
  },
  {
    name: 'ETA',
    type: 'string',
    jsonPath: '.status.estimatedCompletion',
    description: 'Estimated completion time.',
  },
  {
    name: 'Restarts',
    type: 'integer',
    jsonPath: '.status.restarts',
    description: 'Number of restarts of workers that had started.',
  },
  {
    name: 'Framework',
    type: 'string',
    jsonPath: '.spec.framework',
    description: 'Framework of the training code.',
    wide: true,
  },
  {
    name: 'GPUs',
    type: 'integer',
    jsonPath: '.status.resources.allocatedGPUs',
    description: 'Allocated GPUs.',
    wide: true,
  },
  {
    name: 'Started',
    type: 'date',
    jsonPath: '.status.startTime',
    description: 'Time since the first worker ran.',
    wide: true,
  },
  {
    name: 'Duration',
    type: 'string',
    jsonPath: '.status.duration',
    description: 'Time from the start to the last status update, or to the end of a finished job.',
    wide: true,
  },
  {
    name: 'GPU-Hours',
    type: 'number',
    jsonPath: '.status.cost.gpuHours',
    description: 'Hours of GPUs that the job has used up to the last status update.',
    wide: true,
  },
  {
    name: 'Cost',
    type: 'number',
    jsonPath: '.status.cost.estimated',
    description: 'Estimated cost up to the last status update, if the administrator has configured prices.',
    wide: true,
  },
  {
    name: 'Reason',
    type: 'string',
    jsonPath: '.status.reason',
    description: 'Reason for the state, if the job does not run well.',
  },
]
