/** Checkpoint settings of a TrainingJob. */

import {
  cel,
  flag,
  type Infer,
  int32,
  list,
  object,
  optional,
  quantity,
  strEnum,
  staysInside,
  text,
  DNS_SUBDOMAIN,
  objectName,
} from './schema.ts'

const storage = object(
  {
    type: strEnum(['pvc', 's3', 'gcs'], {
      description: 'Storage type: a PersistentVolumeClaim, or a bucket in S3 or Cloud Storage.',
      default: 'pvc',
    }),
    path: optional(
      text({
        description:
          'Location of the checkpoints. For `pvc`, the mount path of the volume; defaults to `/checkpoints`. ' +
          'For `s3` and `gcs`, the URI of a prefix in the bucket.',
        minLength: 1,
        maxLength: 1024,
        rules: [staysInside('checkpoint.storage.path')],
        examples: ['s3://checkpoints/resnet50'],
      }),
    ),
    claimName: optional(
      objectName(
        'An existing PersistentVolumeClaim to use for `pvc`. If omitted, the operator creates `{name}-checkpoints`.',
        'team-checkpoints',
      ),
    ),
    size: quantity({
      description: 'Size of the PersistentVolumeClaim to create for `pvc`.',
      default: '100Gi',
    }),
    storageClass: optional(
      text({
        description: 'StorageClass of the claim. Defaults to the default class of the cluster.',
        maxLength: 253,
        pattern: DNS_SUBDOMAIN,
        examples: ['standard'],
      }),
    ),
    accessModes: optional(
      list(strEnum(['ReadWriteOnce', 'ReadWriteMany'], { description: 'An access mode.' }), {
        description:
          'Access modes of the claim when it is created. Defaults to ReadWriteOnce for a job with one pod and to ' +
          'ReadWriteMany for more. With ReadWriteOnce, all pods run on one node.',
        minItems: 1,
        maxItems: 2,
        examples: [['ReadWriteMany']],
        rules: [
          cel(
            'size(self) < 2 || self[0] != self[1]',
            'checkpoint.storage.accessModes must not have a mode twice: remove one of the two',
          ),
        ],
      }),
    ),
  },
  {
    description: 'Storage for checkpoints.',
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
        'checkpoint.storage.path must be an absolute path when storage.type is pvc: write /checkpoints, or change storage.type',
        { fieldPath: '.path' },
      ),
      cel(
        `self.type == 'pvc' || !has(self.accessModes)`,
        'checkpoint.storage.accessModes applies only when storage.type is pvc: remove it, or change storage.type',
        { fieldPath: '.accessModes' },
      ),
      cel(
        `!has(self.claimName) || (self.type == 'pvc' && !has(self.storageClass) && !has(self.accessModes))`,
        'checkpoint.storage.claimName is an existing claim, for storage.type pvc: remove storage.storageClass and storage.accessModes, or remove claimName',
        { fieldPath: '.claimName' },
      ),
    ],
  },
)

/** A URI of a bucket; everything else is the name of a job. */
export const BUCKET_URI = '^(s3|gs)://'

const resumeFrom = text({
  description:
    'Checkpoints to start from, if the job has none of its own: the name of another TrainingJob in the same namespace, ' +
    'or a URI, `s3://…` or `gs://…`, of a directory of checkpoints or of one checkpoint. The newest complete one is copied.',
  minLength: 1,
  maxLength: 1024,
  examples: ['bert-pretraining'],
  rules: [
    staysInside('checkpoint.resumeFrom'),
    cel(
      `self.matches('${BUCKET_URI}[^/]+') || self.matches('^[a-z]([-a-z0-9]{0,48}[a-z0-9])?$')`,
      'checkpoint.resumeFrom must be the name of a TrainingJob in the same namespace, or a URI s3://bucket/prefix or gs://bucket/prefix: correct it',
    ),
  ],
})

export const checkpoint = object(
  {
    enabled: flag({
      description: 'Whether to save checkpoints and resume from the latest one after a restart.',
      default: true,
    }),
    frequency: int32({ description: 'Number of epochs between checkpoints.', minimum: 1, default: 1 }),
    deleteOnCompletion: flag({
      description:
        'Whether to delete the checkpoints together with the job. Otherwise the operator never deletes them.',
      default: false,
    }),
    keepLast: int32({
      description:
        'Number of complete checkpoints to keep, the newest ones. 0 keeps all. Others are deleted before an attempt ' +
        'resumes, and by the training code if it uses the Python helper.',
      minimum: 0,
      maximum: 1000,
      default: 3,
    }),
    resumeFrom: optional(resumeFrom),
    storage,
  },
  {
    description: 'Checkpointing of the training.',
    default: {},
    rules: [
      cel(
        '!has(self.resumeFrom) || self.enabled',
        'checkpoint.resumeFrom needs checkpoints: set checkpoint.enabled to true, or remove resumeFrom',
        { fieldPath: '.resumeFrom' },
      ),
      cel(
        '!self.deleteOnCompletion || !has(self.storage.claimName)',
        'checkpoint.deleteOnCompletion does not apply to storage.claimName, a claim that others may use: remove one of the two',
        { fieldPath: '.deleteOnCompletion' },
      ),
    ],
  },
)

export type Checkpoint = Infer<typeof checkpoint>
