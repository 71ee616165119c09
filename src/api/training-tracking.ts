/** Tracking of a TrainingJob in MLflow. The server is part of the operator's configuration, never of a job. */

import { type Infer, mapOf, object, optional, strEnum, text } from './schema.ts'

const mlflow = object(
  {
    experiment: optional(
      text({
        description:
          'Name of the experiment. It is created if it does not exist, with the prefix of the operator’s configuration, by ' +
          'default the namespace. Defaults to `default`.',
        minLength: 1,
        maxLength: 200,
        examples: ['sentiment'],
      }),
    ),
    runName: optional(
      text({
        description: 'Name of the run. Defaults to the name of the job.',
        minLength: 1,
        maxLength: 200,
        examples: ['nightly'],
      }),
    ),
    tags: optional(
      mapOf(text({ description: 'Value of the tag.', maxLength: 1024, examples: ['nlp'] }), {
        description: 'Tags of the run, in addition to those that the operator sets.',
        maxProperties: 32,
        examples: [{ team: 'nlp' }],
      }),
    ),
  },
  {
    description: 'One run in MLflow for all attempts of the job: parameters, metrics by step, tags and the result.',
    examples: [{ experiment: 'sentiment' }],
  },
)

export const tracking = object({ mlflow: optional(mlflow) }, { description: 'Where the training is tracked.' })

/** States of a run in MLflow. */
export const runStatuses = ['RUNNING', 'FINISHED', 'FAILED', 'KILLED'] as const

export const trackingStatus = object(
  {
    runId: optional(text({ description: 'ID of the run.', maxLength: 64, examples: ['9c1d2e3f'] })),
    url: optional(
      text({
        description: 'Page of the run.',
        maxLength: 2048,
        examples: ['https://mlflow.example.com/#/experiments/1/runs/9c1d2e3f'],
      }),
    ),
    runStatus: optional(strEnum(runStatuses, { description: 'Status of the run that MLflow has last stored.' })),
    image: optional(
      text({
        description: 'Image of the workers with its digest, as the node reports it.',
        maxLength: 1024,
        examples: ['registry.example.com/trainer@sha256:0123'],
      }),
    ),
  },
  { description: 'The run of the job in MLflow.' },
)

export type RunStatus = (typeof runStatuses)[number]
export type TrackingStatus = Infer<typeof trackingStatus>

/** What MLflow should have of a job, without its metrics. */
export interface TrackedRun {
  readonly namespace: string
  readonly name: string
  /** Of the job. It identifies the run. */
  readonly uid: string
  readonly experiment: string
  readonly runName: string
  /** As recorded in the status. */
  readonly runId?: string
  readonly params: Readonly<Record<string, string>>
  readonly tags: Readonly<Record<string, string>>
  readonly status: RunStatus
  /** In milliseconds since the epoch. */
  readonly startTime: number
  readonly endTime?: number
  /** A version to register of a completed job. */
  readonly register?: ModelRegistration
}

export interface ModelRegistration {
  readonly name: string
  /** URI of the model. */
  readonly source: string
  readonly tags: Readonly<Record<string, string>>
}

/** What MLflow has of a job, as far as this process knows. */
export interface TrackingProgress {
  readonly runId?: string
  readonly url?: string
  readonly runStatus?: RunStatus
  /** Version of the registered model. */
  readonly registered?: RegisteredModel
  /** Why MLflow does not have everything now. */
  readonly problem?: string
}

export interface RegisteredModel {
  readonly name: string
  readonly version: string
}
