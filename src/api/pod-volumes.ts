/**
 * Volumes and environment sources of pods. An allow-list of what a pod template offers: users get no host paths and no
 * privileges.
 */

import { VISIBLE_DEVICES } from './environment.ts'
import {
  cel,
  DNS_LABEL,
  flag,
  list,
  listMap,
  object,
  objectName,
  optional,
  quantity,
  type Rule,
  staysInside,
  strEnum,
  text,
} from './schema.ts'

/** `own`: names of the volumes that the operator adds. */
const volumeName = (own: readonly string[]) =>
  text({
    description: 'Name of the volume.',
    maxLength: 63,
    pattern: DNS_LABEL,
    examples: ['scratch'],
    rules: [
      cel(
        `!(self in ['${own.join("', '")}'])`,
        `volumes[].name must not be one of ${own.join(', ')}, which the operator uses: choose another name`,
      ),
    ],
  })

const volume = (own: readonly string[]) =>
  object(
    {
      name: volumeName(own),
      configMap: optional(
        object({ name: objectName('Name of the ConfigMap.', 'settings') }, { description: 'Mounts a ConfigMap.' }),
      ),
      secret: optional(
        object({ secretName: objectName('Name of the Secret.', 'credentials') }, { description: 'Mounts a Secret.' }),
      ),
      persistentVolumeClaim: optional(
        object(
          {
            claimName: objectName('Name of the PersistentVolumeClaim.', 'datasets'),
            readOnly: optional(flag({ description: 'Mounts the volume read-only.' })),
          },
          { description: 'Mounts a PersistentVolumeClaim.' },
        ),
      ),
      emptyDir: optional(
        object(
          {
            medium: optional(strEnum(['Memory'], { description: 'Storage medium. Defaults to the disk of the node.' })),
            sizeLimit: optional(quantity({ description: 'Maximum size.', examples: ['2Gi'] })),
          },
          { description: 'An empty directory with the lifetime of the pod.' },
        ),
      ),
    },
    {
      description: 'A volume.',
      rules: [
        cel(
          '[has(self.configMap), has(self.secret), has(self.persistentVolumeClaim), has(self.emptyDir)].filter(x, x).size() == 1',
          'volumes[] must have exactly one source: set one of configMap, secret, persistentVolumeClaim and emptyDir',
        ),
      ],
    },
  )

export const podVolumes = (
  own: readonly string[],
  description = 'Volumes for every pod, in addition to those that the operator adds.',
) =>
  listMap(volume(own), ['name'], {
    description,
    maxItems: 32,
    examples: [[{ name: 'scratch', emptyDir: { sizeLimit: '50Gi' } }]],
  })

/** `rules`: which paths the operator keeps for itself. */
export const podVolumeMounts = (rules: readonly Rule[] = [], description = 'Volume mounts for every pod.') =>
  listMap(
    object(
      {
        name: text({
          description: 'Name of a volume.',
          maxLength: 63,
          pattern: DNS_LABEL,
          examples: ['scratch'],
        }),
        mountPath: text({
          description: 'Path in the container at which to mount the volume.',
          minLength: 2,
          maxLength: 1024,
          pattern: '^/[^:]+$',
          rules: [staysInside('volumeMounts[].mountPath'), ...rules],
          examples: ['/scratch'],
        }),
        subPath: optional(
          text({
            description: 'Path in the volume to mount. Defaults to its root.',
            minLength: 1,
            maxLength: 1024,
            pattern: '^[^/]',
            rules: [staysInside('volumeMounts[].subPath')],
            examples: ['team-a'],
          }),
        ),
        readOnly: optional(flag({ description: 'Mounts the volume read-only.' })),
      },
      { description: 'A volume mount.' },
    ),
    ['mountPath'],
    {
      description,
      maxItems: 32,
      examples: [[{ name: 'scratch', mountPath: '/scratch' }]],
    },
  )

/** Of the object that has both lists. */
export const mountedVolumesRule = cel(
  '!has(self.volumeMounts) || (has(self.volumes) && self.volumeMounts.all(mount, self.volumes.exists(volume, volume.name == mount.name)))',
  'volumeMounts[].name must match the name of a volume: add the volume or correct the name',
  { fieldPath: '.volumeMounts' },
)

/** Of the spec: a version may mount its own volumes and those of the spec. */
export const versionVolumesRule = cel(
  'self.versions.all(version, !has(version.volumeMounts) || version.volumeMounts.all(mount, ' +
    '(has(version.volumes) && version.volumes.exists(volume, volume.name == mount.name)) || ' +
    '(has(self.volumes) && self.volumes.exists(volume, volume.name == mount.name))))',
  'versions[].volumeMounts[].name must match the name of a volume of the version or of the spec: add the volume or correct the name',
  { fieldPath: '.versions' },
)

const source = (kind: string) =>
  object(
    {
      name: objectName(`Name of the ${kind}.`, 'settings'),
      optional: optional(flag({ description: `Whether the ${kind} may be missing.` })),
    },
    { description: `A ${kind} whose entries become variables.` },
  )

export const envFrom = list(
  object(
    {
      prefix: optional(
        text({
          description: 'Prefix for the name of each variable.',
          minLength: 1,
          maxLength: 128,
          pattern: '^[-._a-zA-Z][-._a-zA-Z0-9]*$',
          examples: ['S3_'],
          rules: [
            cel(
              `!'${VISIBLE_DEVICES}'.startsWith(self)`,
              `envFrom[].prefix must not be the beginning of ${VISIBLE_DEVICES}, which exposes GPUs of other pods: choose another prefix, and request GPUs with gpusPerWorker or resources`,
            ),
          ],
        }),
      ),
      configMapRef: optional(source('ConfigMap')),
      secretRef: optional(source('Secret')),
    },
    {
      description: 'A source of variables.',
      rules: [
        cel(
          'has(self.configMapRef) != has(self.secretRef)',
          'envFrom[] must have exactly one source: set either configMapRef or secretRef',
        ),
      ],
    },
  ),
  {
    description: 'Environment variables for every pod from ConfigMaps and Secrets.',
    maxItems: 32,
    examples: [[{ secretRef: { name: 's3-credentials' } }]],
  },
)
