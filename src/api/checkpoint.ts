/** Checkpoints of a TrainingJob: whether, how often, and where to. */

import {
  cel,
  flag,
  type Infer,
  int32,
  object,
  optional,
  quantity,
  strEnum,
  staysInside,
  text,
  DNS_SUBDOMAIN,
} from './schema.ts'

const storage = object(
  {
    type: strEnum(['pvc', 's3', 'gcs'], {
      description: 'What keeps the checkpoints: a PersistentVolumeClaim, or a bucket.',
      default: 'pvc',
    }),
    path: optional(
      text({
        description:
          'Where the checkpoints go: for `pvc` the directory at which the volume is mounted (`/checkpoints` if absent), ' +
          'for `s3` and `gcs` the URI of a prefix in the bucket.',
        minLength: 1,
        maxLength: 1024,
        rules: [staysInside('checkpoint.storage.path')],
        examples: ['s3://checkpoints/resnet50'],
      }),
    ),
    size: quantity({
      description: 'Size of the PersistentVolumeClaim that is created for `pvc`.',
      default: '100Gi',
    }),
    storageClass: optional(
      text({
        description: "StorageClass of that claim; the cluster's default class if absent.",
        maxLength: 253,
        pattern: DNS_SUBDOMAIN,
        examples: ['standard'],
      }),
    ),
  },
  {
    description: 'Where checkpoints are kept.',
    default: {},
    rules: [
      cel(
        `self.type != 's3' || (has(self.path) && self.path.matches('^s3://[^/]+'))`,
        'checkpoint.storage.path must be an S3 URI when storage.type is s3: write s3://bucket/prefix',
        { fieldPath: '.path' },
      ),
      cel(
        `self.type != 'gcs' || (has(self.path) && self.path.matches('^gs://[^/]+'))`,
        'checkpoint.storage.path must be a Cloud Storage URI when storage.type is gcs: write gs://bucket/prefix',
        { fieldPath: '.path' },
      ),
      cel(
        `self.type != 'pvc' || !has(self.path) || self.path.startsWith('/')`,
        'checkpoint.storage.path must be an absolute directory when storage.type is pvc: write /checkpoints, or set storage.type',
        { fieldPath: '.path' },
      ),
    ],
  },
)

export const checkpoint = object(
  {
    enabled: flag({ description: 'Keep checkpoints, and resume from the latest after a failure.', default: true }),
    frequency: int32({ description: 'Save a checkpoint every this many epochs.', minimum: 1, default: 1 }),
    deleteOnCompletion: flag({
      description: 'Delete the checkpoints together with the job. Nothing else ever deletes them.',
      default: false,
    }),
    storage,
  },
  { description: 'How the training saves its progress, so that a failure costs minutes and not days.', default: {} },
)

export type Checkpoint = Infer<typeof checkpoint>
