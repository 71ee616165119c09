/** What the pods of a TrainingJob may use of their namespace: an allow-list, not a free pod template. */

import {
  cel,
  DNS_LABEL,
  DNS_SUBDOMAIN,
  flag,
  type Infer,
  list,
  listMap,
  object,
  optional,
  quantity,
  staysInside,
  strEnum,
  text,
} from './schema.ts'

/** Names of volumes that the operator adds itself. */
export const ownVolumes = ['checkpoints', 'config', 'data', 'dshm', 'ssh'] as const

const named = (description: string, example: string) =>
  text({ description, maxLength: 253, pattern: DNS_SUBDOMAIN, examples: [example] })

const volumeName = text({
  description: 'Name of the volume.',
  maxLength: 63,
  pattern: DNS_LABEL,
  examples: ['scratch'],
  rules: [
    cel(
      `!(self in ['${ownVolumes.join("', '")}'])`,
      `volumes.name must not be one of ${ownVolumes.join(', ')}, which the operator uses: choose another`,
    ),
  ],
})

const volume = object(
  {
    name: volumeName,
    configMap: optional(
      object({ name: named('Name of the ConfigMap.', 'settings') }, { description: 'The files of a ConfigMap.' }),
    ),
    secret: optional(
      object({ secretName: named('Name of the Secret.', 'credentials') }, { description: 'The files of a Secret.' }),
    ),
    persistentVolumeClaim: optional(
      object(
        {
          claimName: named('Name of the claim.', 'datasets'),
          readOnly: optional(flag({ description: 'Never write to it.' })),
        },
        { description: 'A PersistentVolumeClaim.' },
      ),
    ),
    emptyDir: optional(
      object(
        {
          medium: optional(strEnum(['Memory'], { description: 'Held in memory; on disk if absent.' })),
          sizeLimit: optional(quantity({ description: 'The most it may hold.', examples: ['2Gi'] })),
        },
        { description: 'An empty directory of each pod, gone with it.' },
      ),
    ),
  },
  {
    description: 'One volume.',
    rules: [
      cel(
        '[has(self.configMap), has(self.secret), has(self.persistentVolumeClaim), has(self.emptyDir)].filter(x, x).size() == 1',
        'volumes must each have exactly one source: configMap, secret, persistentVolumeClaim or emptyDir',
      ),
    ],
  },
)

export const volumes = listMap(volume, ['name'], {
  description: 'Volumes of every pod, beside those that the operator adds.',
  maxItems: 32,
  examples: [[{ name: 'scratch', emptyDir: { sizeLimit: '50Gi' } }]],
})

export const volumeMounts = listMap(
  object(
    {
      name: text({
        description: 'Name of one of the volumes.',
        maxLength: 63,
        pattern: DNS_LABEL,
        examples: ['scratch'],
      }),
      mountPath: text({
        description: 'Directory at which it appears.',
        minLength: 2,
        maxLength: 1024,
        pattern: '^/[^:]+$',
        rules: [staysInside('volumeMounts.mountPath')],
        examples: ['/scratch'],
      }),
      subPath: optional(
        text({
          description: 'Directory inside the volume; all of it if absent.',
          minLength: 1,
          maxLength: 1024,
          pattern: '^[^/]',
          rules: [staysInside('volumeMounts.subPath')],
          examples: ['team-a'],
        }),
      ),
      readOnly: optional(flag({ description: 'Never write to it.' })),
    },
    { description: 'One place for a volume.' },
  ),
  ['mountPath'],
  {
    description: 'Where the volumes appear in every pod.',
    maxItems: 32,
    examples: [[{ name: 'scratch', mountPath: '/scratch' }]],
  },
)

const source = (kind: string) =>
  object(
    {
      name: named(`Name of the ${kind}.`, 'settings'),
      optional: optional(flag({ description: 'Do without it where it does not exist.' })),
    },
    { description: `A ${kind}, each entry a variable.` },
  )

export const envFrom = list(
  object(
    {
      prefix: optional(
        text({
          description: 'Put before the name of each variable.',
          minLength: 1,
          maxLength: 128,
          pattern: '^[-._a-zA-Z][-._a-zA-Z0-9]*$',
          examples: ['S3_'],
        }),
      ),
      configMapRef: optional(source('ConfigMap')),
      secretRef: optional(source('Secret')),
    },
    {
      description: 'One source of variables.',
      rules: [
        cel(
          'has(self.configMapRef) != has(self.secretRef)',
          'envFrom must each have exactly one source: configMapRef or secretRef',
        ),
      ],
    },
  ),
  {
    description: 'Environment variables of every pod from ConfigMaps and Secrets.',
    maxItems: 32,
    examples: [[{ secretRef: { name: 's3-credentials' } }]],
  },
)

export const imagePullSecrets = listMap(
  object({ name: named('Name of the Secret.', 'registry') }, { description: 'A Secret with a login to a registry.' }),
  ['name'],
  { description: 'Logins to the registries that images come from.', maxItems: 16, examples: [[{ name: 'registry' }]] },
)

export const serviceAccountName = named('ServiceAccount that the pods run as.', 'trainer')

export type Volume = Infer<typeof volume>
