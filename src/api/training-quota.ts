/** The quota that a queue has granted to a TrainingJob, and why a job waits for it. */

import { dateTime, type Infer, int32, int64, list, listMap, mapOf, object, optional, text } from './schema.ts'

const name = (description: string, example: string) => text({ description, maxLength: 253, examples: [example] })
const value = text({ description: 'Value.', maxLength: 4096 })
const map = (description: string, example: Readonly<Record<string, string>>) =>
  optional(mapOf(value, { description, maxProperties: 128, examples: [example] }))

const toleration = object(
  {
    key: optional(name('Taint key.', 'spot')),
    operator: optional(text({ description: '`Exists` or `Equal`.', maxLength: 63, examples: ['Equal'] })),
    value: optional(name('Taint value.', 'true')),
    effect: optional(text({ description: 'Taint effect.', maxLength: 63, examples: ['NoSchedule'] })),
    tolerationSeconds: optional(int64({ description: 'Seconds to tolerate a taint with effect NoExecute.' })),
  },
  { description: 'A toleration.' },
)

const podSet = object(
  {
    name: text({ description: 'Role of the pods.', maxLength: 63, examples: ['worker'] }),
    count: int32({ description: 'Number of pods that the quota is for.', minimum: 0 }),
    flavors: map('Flavor of each resource.', { 'nvidia.com/gpu': 'a100' }),
    nodeSelector: map('Node labels of the flavors. Pods of the attempt have them as nodeSelector.', { pool: 'a100' }),
    tolerations: optional(
      list(toleration, { description: 'Tolerations of the flavors, for pods of the attempt.', maxItems: 128 }),
    ),
    labels: map('Labels that pods of the attempt get.', { team: 'a' }),
    annotations: map('Annotations that pods of the attempt get.', {
      'kueue.x-k8s.io/workload': 'trainingjob-bert',
    }),
    schedulingGates: optional(
      list(text({ description: 'Name of a gate.', maxLength: 316 }), {
        description: 'Scheduling gates that pods of the attempt get.',
        maxItems: 16,
      }),
    ),
  },
  { description: 'What is granted to the pods of one role.' },
)

export const admission = object(
  {
    clusterQueue: name('ClusterQueue that granted the quota.', 'team-a'),
    uid: text({
      description: 'UID of the Workload that the quota was granted to.',
      maxLength: 64,
      examples: ['8f1c2a4e-5b6d-4c7e-9f80-1a2b3c4d5e6f'],
    }),
    time: dateTime({ description: 'Time when the quota was granted.' }),
    requestedWorkers: int32({ description: 'Number of workers that the Workload asked for.', minimum: 1 }),
    podSets: listMap(podSet, ['name'], { description: 'What is granted, by role.', maxItems: 18 }),
  },
  { description: 'Quota that is granted to the attempt. It is recorded before the first pod is created.' },
)

export const pendingQuota = object(
  {
    reason: text({ description: 'Reason in one word, as the queue gives it.', maxLength: 1024, examples: ['Pending'] }),
    message: text({
      description: 'Which quota or flavor is short.',
      maxLength: 4096,
      examples: ["couldn't assign flavors to pod set worker: insufficient unused quota for nvidia.com/gpu"],
    }),
  },
  { description: 'Why the job has no quota.' },
)

export type Admission = Infer<typeof admission>
export type PodSetAdmission = Admission['podSets'][number]
