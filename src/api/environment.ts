/** Environment variables that users set for pods. */

import { serverVariables } from './pod-guards.ts'
import { cel, flag, listMap, object, objectName, optional, type Rule, text } from './schema.ts'

/** The GPUs that the NVIDIA runtime gives to a container, whoever sets it. */
export const VISIBLE_DEVICES = 'NVIDIA_VISIBLE_DEVICES'

/** `gpus` is the field that requests GPUs in the same kind; the error message refers to it. */
const variableName = (gpus: string, rules: readonly Rule[] = []) =>
  text({
    description: 'Name of the variable.',
    examples: ['OMP_NUM_THREADS'],
    minLength: 1,
    maxLength: 253,
    pattern: '^[-._a-zA-Z][-._a-zA-Z0-9]*$',
    rules: [
      cel(
        `self != '${VISIBLE_DEVICES}'`,
        `env[].name must not be ${VISIBLE_DEVICES}, which exposes GPUs of other pods: request GPUs with ${gpus}`,
      ),
      ...rules,
    ],
  })

const variableValue = text({
  description: 'Value of the variable.',
  maxLength: 32768,
  default: '',
  examples: ['4'],
})

const examples = [[{ name: 'OMP_NUM_THREADS', value: '4' }]]

const keyRef = (kind: string) =>
  object(
    {
      name: objectName(`Name of the ${kind}.`, 'settings', { minLength: 1 }),
      key: text({
        description: `Key in the ${kind}.`,
        minLength: 1,
        maxLength: 253,
        pattern: '^[-._a-zA-Z0-9]+$',
        examples: ['token'],
      }),
      optional: optional(flag({ description: `Whether the ${kind} or the key may be missing.` })),
    },
    { description: `A key of a ${kind}.` },
  )

const fieldRef = object(
  {
    fieldPath: text({
      description: 'Path of the field.',
      minLength: 1,
      maxLength: 400,
      pattern:
        "^(metadata\\.(name|namespace|uid)|metadata\\.(labels|annotations)\\['[^']+'\\]|spec\\.(nodeName|serviceAccountName)|status\\.(hostIP|hostIPs|podIP|podIPs))$",
      examples: ['metadata.name'],
    }),
  },
  { description: 'A field of the pod.' },
)

const valueFrom = object(
  {
    secretKeyRef: optional(keyRef('Secret')),
    configMapKeyRef: optional(keyRef('ConfigMap')),
    fieldRef: optional(fieldRef),
  },
  {
    description: 'Source of the value.',
    examples: [{ secretKeyRef: { name: 'settings', key: 'token' } }],
    rules: [
      cel(
        '[has(self.secretKeyRef), has(self.configMapKeyRef), has(self.fieldRef)].filter(x, x).size() == 1',
        'env[].valueFrom must have exactly one source: set one of secretKeyRef, configMapKeyRef and fieldRef',
      ),
    ],
  },
)

const reserved = (names: readonly string[]) =>
  cel(
    `!(self in ['${names.join("', '")}'])`,
    `env[].name must not be one of ${names.join(', ')}, which the operator sets: choose another name`,
  )

/** Variables of pods, also from Secrets, ConfigMaps and fields of the pod. */
const variables = (description: string, name: ReturnType<typeof variableName>) =>
  listMap(
    object(
      { name, value: variableValue, valueFrom: optional(valueFrom) },
      {
        description: 'An environment variable.',
        rules: [
          cel(
            `!has(self.valueFrom) || self.value == ''`,
            'env[].value and env[].valueFrom exclude each other: remove one of the two',
          ),
        ],
      },
    ),
    ['name'],
    { description, maxItems: 128, examples },
  )

/** Of training processes. The operator's own variables take precedence. */
export const environment = (description: string, gpus: string) => variables(description, variableName(gpus))

/** Of model servers. */
export const serverEnvironment = (description: string, gpus: string) =>
  variables(description, variableName(gpus, [reserved(serverVariables)]))

/** What a Job of an analysis is told about the version that it judges. */
export const analysisVariables = [
  'MODEL_NAME',
  'MODEL_VERSION',
  'MODEL_URL',
  'MODEL_WEIGHT',
  'ROLLOUT_REVISION',
  'ROLLOUT_STEP',
] as const

export const analysisEnvironment = (description: string, gpus: string) =>
  variables(description, variableName(gpus, [reserved(analysisVariables)]))
