/** Identity, scheduling, storage and validation settings of the pods that serve a model. */

import { placement } from './placement.ts'
import { cel, type Infer, int32, object, objectName, optional, quantity, staysInside, strEnum, text } from './schema.ts'

const named = (description: string, example: string) => objectName(description, example, { minLength: 1 })

export const servingAccountName = named(
  'ServiceAccount of the pods. Models are fetched with its identity.',
  'model-reader',
)

export const servingScheduling = object(placement, {
  description: 'Scheduling constraints of the pods.',
  examples: [{ nodeSelector: { pool: 'inference' } }],
})

const KEY = '^[-_a-zA-Z0-9][-._a-zA-Z0-9]*$'

/** `field` is the path that the error message names. */
const key = (field: string, description: string, fallback: string) =>
  text({
    description,
    minLength: 1,
    maxLength: 253,
    pattern: KEY,
    default: fallback,
    rules: [
      cel(
        `self.matches('${KEY}')`,
        `${field} must be the name of one entry, without a directory: write for example ${fallback}`,
      ),
    ],
  })

/** Variables of the libraries that read a file with credentials. */
export const credentialsVariables = ['GOOGLE_APPLICATION_CREDENTIALS', 'AWS_SHARED_CREDENTIALS_FILE'] as const

const credentialsFile = object(
  {
    secretName: named('Secret with the file.', 'gcs-key'),
    key: key('storage.credentialsFile.key', 'Entry of the Secret that is the file.', 'credentials.json'),
    variable: strEnum(credentialsVariables, {
      description: 'Environment variable of the fetching container that has the path of the file.',
      default: 'GOOGLE_APPLICATION_CREDENTIALS',
    }),
  },
  {
    description: 'A file with credentials, mounted in the fetching container only.',
    examples: [{ secretName: 'gcs-key', key: 'key.json' }],
  },
)

const caBundle = object(
  {
    configMapName: named('ConfigMap with the certificates.', 'company-ca'),
    key: key('storage.caBundle.key', 'Entry of the ConfigMap with the certificates, in PEM format.', 'ca.crt'),
  },
  {
    description: 'Certificates of private CAs that fetching trusts, in addition to the public ones.',
    examples: [{ configMapName: 'company-ca' }],
  },
)

export const storage = object(
  {
    secretName: optional(
      named(
        'Secret whose entries become environment variables of the fetching container: AWS_ACCESS_KEY_ID, HF_TOKEN, …',
        's3',
      ),
    ),
    credentialsFile: optional(credentialsFile),
    caBundle: optional(caBundle),
    claimName: optional(named('PersistentVolumeClaim used as model cache, shared by all pods.', 'models')),
    size: optional(
      quantity({
        description: 'Size of the PersistentVolumeClaim to create as model cache.',
        maxLength: 32,
        examples: ['20Gi'],
      }),
    ),
    storageClass: optional(named('StorageClass of the created claim.', 'shared')),
    accessMode: strEnum(['ReadWriteMany', 'ReadWriteOnce'], {
      description: 'Access mode of the created claim. With ReadWriteOnce, all pods run on one node.',
      default: 'ReadWriteMany',
    }),
  },
  {
    description: 'Model cache, and credentials to fetch models with. If omitted, each pod fetches its own copy.',
    examples: [{ secretName: 's3' }],
    rules: [
      cel(
        '!(has(self.claimName) && has(self.size))',
        'storage.claimName uses an existing claim and storage.size creates one: remove one of the two',
        { fieldPath: '.claimName' },
      ),
      cel(
        '!has(self.storageClass) || has(self.size)',
        'storage.storageClass applies to the claim that storage.size creates: add size or remove storageClass',
        { fieldPath: '.storageClass' },
      ),
    ],
  },
)

export const validationScript = (field: string) =>
  text({
    description:
      'Python script that validates the model before it gets traffic. Path next to the model or in the image. A nonzero exit code means failure.',
    minLength: 1,
    maxLength: 512,
    pattern: '^[A-Za-z0-9._/-]+$',
    rules: [staysInside(field)],
    examples: ['validate.py'],
  })

export type Storage = Infer<typeof storage>

export const validationTimeout = int32({
  description: 'Seconds after which the validation fails.',
  minimum: 1,
  maximum: 86_400,
  default: 600,
})
