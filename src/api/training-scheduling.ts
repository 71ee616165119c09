/** Scheduling of the pods of a TrainingJob, and what its status says about it. */

import { labelKey } from './affinity.ts'
import { placement } from './placement.ts'
import { admission, pendingQuota } from './training-quota.ts'
import { cel, dateTime, type Infer, int32, object, objectName, optional, strEnum, text } from './schema.ts'

/** The schedulers of gangs, in the order in which `auto` tries them. */
export const gangSchedulers = ['volcano', 'kueue', 'coscheduling', 'native', 'none'] as const

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
          'cluster serves, for jobs with more than one pod; else none. kueue: no pod is created before Kueue has granted ' +
          'quota for all of them. auto chooses it only for a job with a queue, and the label `kueue.x-k8s.io/queue-name` ' +
          'of the job chooses it in any case.',
      }),
    ),
    queueName: optional(
      objectName(
        'Queue of the job: a queue of Volcano, or a LocalQueue of Kueue in the namespace of the job. With Kueue, the label ' +
          '`kueue.x-k8s.io/queue-name` of the job takes precedence.',
        'research',
      ),
    ),
    spot: optional(
      strEnum(spotPolicies, {
        description:
          'Spot nodes, which are cheaper and may be taken back at any time. prefer: tolerate their taints and prefer them; require: ' +
          'run on no other nodes; never: run on other nodes only. The administrator configures their labels and taints. By default ' +
          'the pods get neither tolerations nor affinity for them.',
      }),
    ),
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
        `!has(self.queueName) || !has(self.gang) || self.gang in ['auto', 'volcano', 'kueue']`,
        'scheduling.queueName needs a gang scheduler with queues: set scheduling.gang to volcano, kueue or auto, or remove queueName',
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
    podGroup: optional(
      text({ description: 'Name of the PodGroup, or of the Workload of Kueue.', maxLength: 253, examples: ['bert'] }),
    ),
    queueName: optional(
      text({ description: 'LocalQueue that grants quota to the job.', maxLength: 253, examples: ['research'] }),
    ),
    pending: optional(pendingQuota),
    admission: optional(admission),
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
