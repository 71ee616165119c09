/** Scheduling of the pods of a TrainingJob, and what its status says about it. */

import { labelKey } from './affinity.ts'
import { placement } from './placement.ts'
import { cel, dateTime, type Infer, int32, object, objectName, optional, strEnum, text } from './schema.ts'

/** The schedulers of gangs, in the order in which `auto` tries them. */
export const gangSchedulers = ['volcano', 'coscheduling', 'native', 'none'] as const

export type GangSchedulerName = (typeof gangSchedulers)[number]

/** Whether pods run on nodes that the cloud may take back at any time. */
export const spotPolicies = ['prefer', 'require', 'never'] as const

export const scheduling = object(
  {
    schedulerName: optional(
      objectName(
        'Scheduler of the pods. Defaults to that of the gang scheduler, or else to the scheduler of the cluster.',
        'volcano',
      ),
    ),
    ...placement,
    topologyKey: optional(
      labelKey(
        'Node label. All pods of the job run on nodes with the same value of it, for example in one zone or rack.',
      ),
    ),
    gang: optional(
      strEnum(['auto', ...gangSchedulers], {
        description:
          'What places all pods of an attempt together or none of them: Volcano, the plugin coscheduling of ' +
          'scheduler-plugins, or the PodGroups of Kubernetes (native). Default auto: the first of these whose PodGroup the ' +
          'cluster serves, for jobs with more than one pod; else none.',
      }),
    ),
    spot: optional(
      strEnum(spotPolicies, {
        description:
          'Spot nodes, which are cheaper and may be taken back at any time. prefer: tolerate their taints and prefer them; require: ' +
          'run on no other nodes; never: run on other nodes only. The administrator configures their labels and taints. By default ' +
          'the pods get neither tolerations nor affinity for them.',
      }),
    ),
    queueName: optional(objectName('Queue of the gang scheduler. Only volcano has queues.', 'research')),
    gangTimeoutSeconds: optional(
      int32({
        description:
          'How long an attempt may hold nodes for some of its pods while the others find none. Without a gang scheduler, the ' +
          'pods are then deleted and created again after a pause, so that two jobs do not wait for each other. It does not ' +
          'count against backoffLimit. 0 disables it. Defaults to gangTimeoutMs of the operator, 10 minutes.',
        minimum: 0,
        maximum: 86_400,
        examples: [300],
      }),
    ),
  },
  {
    description: 'Scheduling constraints of the pods.',
    rules: [
      cel(
        `!has(self.queueName) || !has(self.gang) || self.gang in ['auto', 'volcano']`,
        'scheduling.queueName needs a gang scheduler with queues: set scheduling.gang to volcano or auto, or remove queueName',
        { fieldPath: '.queueName' },
      ),
    ],
  },
)

export const schedulingStatus = object(
  {
    gang: strEnum(gangSchedulers, {
      description: 'Gang scheduler of the attempt in `attempt`. none: its pods are scheduled one by one.',
    }),
    attempt: int32({ description: 'Attempt that it was chosen for.', minimum: 1 }),
    podGroup: optional(text({ description: 'Name of the PodGroup.', maxLength: 253, examples: ['bert'] })),
    partialSince: optional(
      dateTime({ description: 'Since when some pods have a node while others that the job needs find none.' }),
    ),
    releases: optional(
      int32({
        description: 'How often in a row the job has given its nodes back because other pods found none.',
        minimum: 1,
      }),
    ),
  },
  { description: 'How the pods of the current attempt are scheduled.' },
)

export type Scheduling = Infer<typeof scheduling>
export type SchedulingStatus = Infer<typeof schedulingStatus>
