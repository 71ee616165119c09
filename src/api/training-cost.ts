/** What the status of a TrainingJob has about its cost: the resources that its pods requested, for the time they held a node. */
import { dateTime, type Infer, int32, listMap, number, object, optional, text } from './schema.ts'

/** Attempts with a cost of their own; the earliest are forgotten, but stay in the total. */
export const MAX_COST_ATTEMPTS = 16

const amount = (description: string) => number({ description, minimum: 0 })

const spent = {
  gpuHours: amount('GPUs that the pods requested, times the hours for which they held a node.'),
  cpuHours: amount('CPUs that the pods requested, times the hours for which they held a node.'),
  estimated: optional(
    amount(
      'Estimate in `currency`, by the prices that the administrator has configured for nodes. Absent without prices.',
    ),
  ),
}

const attemptCost = object(
  { attempt: int32({ description: 'Number of the attempt.', minimum: 1 }), ...spent },
  { description: 'The cost of an attempt.' },
)

const held = object(
  {
    attempt: int32({ description: 'Attempt of the pods.', minimum: 1 }),
    gpus: amount('Number of GPUs.'),
    cpus: amount('Number of CPUs.'),
    pricePerHour: optional(amount('Price of the pods for an hour.')),
  },
  { description: 'What the pods held at `time`. Pods that are gone later without a known end are counted by it.' },
)

export const costStatus = object(
  {
    ...spent,
    currency: optional(text({ description: 'Currency of `estimated`.', maxLength: 3, examples: ['USD'] })),
    attempts: listMap(attemptCost, ['attempt'], {
      description: 'The cost of the last attempts, the earliest first. Their sum is the total unless there are more.',
      maxItems: MAX_COST_ATTEMPTS,
    }),
    time: dateTime({
      description: 'Time up to which the cost is counted: that of the last status update while pods hold nodes.',
    }),
    held: optional(held),
  },
  {
    description: 'Resources that the pods of the job have used, and what they cost by the prices of the administrator.',
  },
)

export type CostStatus = Infer<typeof costStatus>
export type AttemptCost = Infer<typeof attemptCost>
export type HeldResources = Infer<typeof held>
