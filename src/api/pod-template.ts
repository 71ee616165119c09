/**
 * A pod template that users add to the pods of the operator. The API server keeps its `spec` as it is. Only what a rule reads
 * is declared, because CEL cannot read other fields.
 */

import { labelValue } from './affinity.ts'
import { type GuardedContainer, type PodGuards, RESERVED_KEYS } from './pod-guards.ts'
import {
  cel,
  type Infer,
  int32,
  int64,
  list,
  listMap,
  mapOf,
  object,
  optional,
  quantity,
  type Rule,
  text,
} from './schema.ts'

const OPEN = { 'x-kubernetes-preserve-unknown-fields': true } as const
const FORBIDDEN = { reason: 'FieldValueForbidden' } as const

const MAX_CONTAINERS = 8
const MAX_VARIABLES = 128
const MAX_MOUNTS = 32
const MAX_VOLUMES = 64
const MAX_KEYS = 64

const quoted = (words: readonly string[]): string => `['${words.join("', '")}']`

const unreserved = (field: string): Rule =>
  cel(
    `self.all(key, !key.matches('${RESERVED_KEYS}'))`,
    `podTemplate.metadata.${field} must not have a key that the operator sets (app, component, trainingjob, ml.example.com/…): choose another key`,
    FORBIDDEN,
  )

const metadata = object(
  {
    labels: optional(
      mapOf(labelValue('Value of the label.'), {
        description: 'Labels of the pods, in addition to those of the operator.',
        maxProperties: MAX_KEYS,
        rules: [unreserved('labels')],
        examples: [{ team: 'vision' }],
      }),
    ),
    annotations: optional(
      mapOf(text({ description: 'Value of the annotation.', maxLength: 65_536 }), {
        description: 'Annotations of the pods, in addition to those of the operator.',
        maxProperties: MAX_KEYS,
        rules: [unreserved('annotations')],
        examples: [{ 'sidecar.istio.io/inject': 'false' }],
      }),
    ),
  },
  { description: 'Metadata of the pods.' },
)

const words = (description: string) =>
  list(text({ description: 'A word.', maxLength: 65_536 }), { description, maxItems: 256 })

const amounts = (description: string) =>
  mapOf(quantity({ description: 'A quantity.' }), { description, maxProperties: 16 })

const variable = object(
  {
    name: text({ description: 'Name of the variable.', minLength: 1, maxLength: 253, examples: ['LOG_LEVEL'] }),
    value: optional(text({ description: 'Value of the variable.', maxLength: 32_768, examples: ['debug'] })),
  },
  { description: 'An environment variable, as in a PodSpec.', extra: OPEN },
)

const mount = object(
  {
    name: text({ description: 'Name of a volume.', minLength: 1, maxLength: 63, examples: ['scratch'] }),
    mountPath: text({
      description: 'Path in the container at which to mount the volume.',
      minLength: 1,
      maxLength: 256,
      examples: ['/scratch'],
    }),
  },
  { description: 'A volume mount, as in a PodSpec.', extra: OPEN },
)

/** `taken`: names that the operator uses elsewhere. */
const containerName = (taken: readonly string[], at: string) =>
  text({
    description: 'Name of the container.',
    minLength: 1,
    maxLength: 63,
    examples: ['log-shipper'],
    ...(taken.length > 0 && {
      rules: [
        cel(
          `!(self in ${quoted(taken)})`,
          `podTemplate.spec.${at}[].name must not be one of ${taken.join(', ')}, which the operator uses elsewhere: choose another name`,
        ),
      ],
    }),
  })

const containerSchema = (taken: readonly string[], at: string, own: GuardedContainer | undefined) =>
  object(
    {
      name: containerName(taken, at),
      image: optional(text({ description: 'Image of the container.', maxLength: 512, examples: ['fluent-bit:4'] })),
      command: optional(words('Entrypoint of the container.')),
      args: optional(words('Arguments of the entrypoint.')),
      env: optional(
        listMap(variable, ['name'], { description: 'Environment variables, merged by name.', maxItems: MAX_VARIABLES }),
      ),
      envFrom: optional(
        list(object({}, { description: 'A source of variables, as in a PodSpec.', extra: OPEN }), {
          description: 'Sources of environment variables.',
          maxItems: MAX_MOUNTS,
        }),
      ),
      volumeMounts: optional(
        listMap(mount, ['mountPath'], { description: 'Volume mounts, merged by mountPath.', maxItems: MAX_MOUNTS }),
      ),
      resources: optional(
        object(
          { requests: optional(amounts('Resources reserved.')), limits: optional(amounts('Maximum resources.')) },
          { description: 'Compute resources and claims, as in a PodSpec.', extra: OPEN },
        ),
      ),
    },
    { description: 'A container, as in a PodSpec.', extra: OPEN, ...(own && { rules: ownRules(own, at) }) },
  )

/** What a template must not change in a container of the operator. */
function ownRules({ name, fields, variables, paths, pathNames }: GuardedContainer, at: string): Rule[] {
  const isOther = `self.name != '${name}'`
  const field = `podTemplate.spec.${at}[].`
  return [
    ...Object.entries(fields).map(([path, fix]) =>
      cel(`${isOther} || ${lacks(path)}`, `${field}${path} must not be set for ${name}: ${fix}`, {
        fieldPath: `.${path}`,
        ...FORBIDDEN,
      }),
    ),
    cel(
      `${isOther} || !has(self.env) || !self.env.exists(one, one.name in ${quoted(variables)})`,
      `${field}env must not have a variable that the operator sets for ${name} (${variables.slice(0, 3).join(', ')}, …): remove it or choose another name`,
      { fieldPath: '.env', ...FORBIDDEN },
    ),
    cel(
      `${isOther} || !has(self.volumeMounts) || !self.volumeMounts.exists(one, one.mountPath.matches('${paths}'))`,
      `${field}volumeMounts must not have a mountPath that the operator uses for ${name} (${pathNames}): choose another path`,
      { fieldPath: '.volumeMounts', ...FORBIDDEN },
    ),
  ]
}

/** CEL for a field that is absent, at a path of one or two names. */
function lacks(path: string): string {
  const [first, second] = path.split('.')
  return second === undefined ? `!has(self.${first})` : `!has(self.${first}) || !has(self.${first}.${second})`
}

const containers = (taken: readonly string[], at: string, own: GuardedContainer | undefined, description: string) =>
  listMap(containerSchema(taken, at, own), ['name'], { description, maxItems: MAX_CONTAINERS })

const volumes = (own: readonly string[]) =>
  listMap(
    object(
      {
        name: text({
          description: 'Name of the volume.',
          minLength: 1,
          maxLength: 63,
          examples: ['scratch'],
          rules: [
            cel(
              `!(self in ${quoted(own)})`,
              `podTemplate.spec.volumes[].name must not be one of ${own.join(', ')}, which the operator uses: choose another name`,
            ),
          ],
        }),
      },
      { description: 'A volume, as in a PodSpec.', extra: OPEN },
    ),
    ['name'],
    { description: 'Volumes, merged by name.', maxItems: MAX_VOLUMES },
  )

const rejected = 'Rejected: another field has it, or the operator sets it.'
const forbiddenText = optional(text({ description: rejected, maxLength: 253 }))

/** Declared only so that a rule can reject them. */
const forbiddenFields = {
  activeDeadlineSeconds: optional(int64({ description: rejected, minimum: 0 })),
  ephemeralContainers: optional(
    list(object({}, { description: rejected, extra: OPEN }), { description: rejected, maxItems: MAX_CONTAINERS }),
  ),
  hostname: forbiddenText,
  hostnameOverride: forbiddenText,
  nodeName: forbiddenText,
  priority: optional(int32({ description: rejected, minimum: 0 })),
  priorityClassName: forbiddenText,
  restartPolicy: forbiddenText,
  schedulerName: forbiddenText,
  serviceAccount: forbiddenText,
  serviceAccountName: forbiddenText,
  subdomain: forbiddenText,
}

const podSpec = ({ fields, container, initContainer, otherContainers, volumes: own }: PodGuards) => {
  const taken = [...(initContainer ? [initContainer.name] : []), ...otherContainers]
  const main = containers(taken, 'containers', container, 'Containers, merged by name.')
  const init = [container.name, ...otherContainers]
  return object(
    {
      containers: optional(main),
      initContainers: optional(
        containers(init, 'initContainers', initContainer, 'Init containers and sidecars, merged by name.'),
      ),
      volumes: optional(volumes(own)),
      ...forbiddenFields,
    },
    {
      description: 'A part of a PodSpec, which is merged into that of the operator as Kubernetes merges patches.',
      extra: OPEN,
      rules: Object.entries(fields).map(([field, fix]) =>
        cel(`!has(self.${field})`, `podTemplate.spec.${field} must not be set: ${fix}`, {
          fieldPath: `.${field}`,
          ...FORBIDDEN,
        }),
      ),
      examples: [{ runtimeClassName: 'kata' }],
    },
  )
}

/** `description`: which pods it is for. */
export const podTemplate = (description: string, guards: PodGuards) =>
  object({ metadata: optional(metadata), spec: optional(podSpec(guards)) }, { description })

export type UserPodTemplate = Infer<ReturnType<typeof podTemplate>>
