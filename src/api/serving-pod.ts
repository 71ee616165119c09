/** What the pods of a served model may use of their namespace, where they go, and where their model comes from. */

import {
  cel,
  DNS_SUBDOMAIN,
  type Infer,
  int32,
  object,
  optional,
  quantity,
  staysInside,
  strEnum,
  text,
} from './schema.ts'
import { placement } from './training-scheduling.ts'

const named = (description: string, example: string) =>
  text({ description, minLength: 1, maxLength: 253, pattern: DNS_SUBDOMAIN, examples: [example] })

export const servingAccountName = named(
  'ServiceAccount that the pods run as: the identity that model artifacts are fetched with.',
  'model-reader',
)

export const servingScheduling = object(placement, {
  description: 'Where the pods go.',
  examples: [{ nodeSelector: { pool: 'inference' } }],
})

export const storage = object(
  {
    secretName: optional(
      named(
        'Secret whose entries are given to the fetching container as variables: AWS_ACCESS_KEY_ID, HF_TOKEN, …',
        's3',
      ),
    ),
    claimName: optional(named('PersistentVolumeClaim that artifacts are cached on, shared by all pods.', 'models')),
    size: optional(
      quantity({ description: 'Size of a claim that is created as the cache.', maxLength: 32, examples: ['20Gi'] }),
    ),
    storageClass: optional(named('Storage class of that claim.', 'shared')),
    accessMode: strEnum(['ReadWriteMany', 'ReadWriteOnce'], {
      description: 'Access mode of that claim. ReadWriteOnce binds all pods to one node.',
      default: 'ReadWriteMany',
    }),
  },
  {
    description: 'Where model artifacts are kept once fetched, and with which credentials. Absent: in each pod.',
    examples: [{ secretName: 's3' }],
    rules: [
      cel(
        '!(has(self.claimName) && has(self.size))',
        'storage.claimName names a claim that exists, storage.size makes one: remove one of the two',
        { fieldPath: '.claimName' },
      ),
      cel(
        '!has(self.storageClass) || has(self.size)',
        'storage.storageClass is for the claim that storage.size makes: add size or remove storageClass',
        { fieldPath: '.storageClass' },
      ),
    ],
  },
)

export const validationScript = (field: string) =>
  text({
    description:
      'Python script that judges the model before it gets traffic: a path beside the model, or else inside the image. It fails by a status other than 0.',
    minLength: 1,
    maxLength: 512,
    pattern: '^[A-Za-z0-9._/-]+$',
    rules: [staysInside(field)],
    examples: ['validate.py'],
  })

export type Storage = Infer<typeof storage>

export const validationTimeout = int32({
  description: 'Time after which a validation that has not ended has failed.',
  minimum: 1,
  maximum: 86_400,
  default: 600,
})
