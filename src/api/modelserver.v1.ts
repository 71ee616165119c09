/** ModelServer v1: a serving runtime that models can be deployed on. A template: creating one starts nothing. */

import { conditionsSchema } from './conditions.ts'
import { environment } from './environment.ts'
import { AGE, type CustomObject, type KindVersion } from './kind.ts'
import { servingImage } from './modeldeployment-parts.ts'
import {
  flag,
  type Infer,
  int32,
  int64,
  list,
  listMap,
  object,
  optional,
  staysInside,
  strEnum,
  text,
} from './schema.ts'

const path = (description: string, fallback: string) =>
  text({
    description,
    maxLength: 512,
    pattern: '^/([^/\\s?#][^\\s?#]*)?$',
    default: fallback,
    rules: [staysInside('path')],
  })

const probe = (description: string, periodSeconds: number, failureThreshold: number) =>
  object(
    {
      path: path('Path that answers 200 when all is well.', '/health'),
      periodSeconds: int32({ description: 'Time between two probes.', minimum: 1, default: periodSeconds }),
      timeoutSeconds: int32({ description: 'Time to wait for an answer.', minimum: 1, default: 5 }),
      failureThreshold: int32({ description: 'Failures in a row that count.', minimum: 1, default: failureThreshold }),
      command: optional(
        list(text({ description: 'One word of the command.' }), {
          description: 'Command to run in the container instead of calling the path: all is well when it exits with 0.',
          minItems: 1,
          maxItems: 16,
          examples: [['my-server', 'check']],
        }),
      ),
    },
    { description },
  )

const probes = object(
  {
    startup: optional(probe('Holds the other two back until the server has started and the model is loaded.', 10, 30)),
    readiness: optional(probe('Decides whether a pod gets traffic.', 10, 3)),
    liveness: optional(probe('Decides whether a pod is started again.', 15, 3)),
  },
  {
    description: 'Probes: by HTTP on the port of the server, or by a command.',
    examples: [{ readiness: { path: '/v2/health/ready' }, liveness: { path: '/v2/health/live' } }],
  },
)

const modelLayout = object(
  {
    mountPath: text({
      description: 'Directory in which the server finds the model.',
      maxLength: 512,
      pattern: '^/[^:]*$',
      default: '/mnt/models',
      rules: [staysInside('model.mountPath')],
    }),
    layout: strEnum(['file', 'repository'], {
      description:
        'How the artifacts are laid out there. `file`: as they are at the path of the model; ' +
        '`repository`: under {modelName}/1/, as Triton and TensorFlow Serving want them.',
      default: 'file',
    }),
    readOnly: flag({ description: 'Mount it so that the server cannot write to it.', default: true }),
  },
  { description: 'Where and how the server wants the model.', default: {} },
)

/** Where a server finds its configuration files. */
export const FILES_DIRECTORY = '/etc/model-server'

const file = object(
  {
    name: text({
      description: 'Name of the file.',
      minLength: 1,
      maxLength: 253,
      pattern: '^[A-Za-z0-9_-][A-Za-z0-9._-]*$',
      examples: ['server.conf'],
    }),
    content: text({
      description: 'What is in it. `$(MODEL_NAME)` and `$(MODEL_PATH)` stand for the model that is served.',
      maxLength: 65_536,
      examples: ['workers=2'],
    }),
  },
  { description: 'One file.' },
)

const spec = object(
  {
    image: servingImage('Container image of the server.', 'registry.example.com/my-server:1.4'),
    port: int32({ description: 'Port that it answers HTTP on.', minimum: 1, maximum: 65535, default: 8080 }),
    command: optional(
      list(text({ description: 'One word of the command.' }), {
        description: "Command that starts the server; the image's own if absent.",
        minItems: 1,
        maxItems: 64,
        examples: [['my-server']],
      }),
    ),
    args: optional(
      list(text({ description: 'One argument.' }), {
        description: 'Arguments. `$(MODEL_NAME)` and `$(MODEL_PATH)` stand for the model that is served.',
        maxItems: 64,
        examples: [['--model-store=$(MODEL_PATH)']],
      }),
    ),
    env: optional(
      environment(
        'Environment variables of the server. `$(MODEL_NAME)` and `$(MODEL_PATH)` stand for the model that is served.',
        'resources of the ModelDeployment',
      ),
    ),
    files: optional(
      listMap(file, ['name'], {
        description: `Configuration files, found in ${FILES_DIRECTORY}.`,
        maxItems: 16,
        examples: [[{ name: 'server.conf', content: 'workers=2' }]],
      }),
    ),
    probes: optional(probes),
    model: modelLayout,
  },
  { description: 'How to run the server.' },
)

const status = object(
  {
    observedGeneration: optional(
      int64({ description: 'The generation of the spec that this status speaks of.', minimum: 0 }),
    ),
    conditions: optional(conditionsSchema),
  },
  { description: 'What is known about the template. Written by the operator.' },
)

export type ModelServerSpec = Infer<typeof spec>
export type ModelServerStatus = Infer<typeof status>
export type ModelServer = CustomObject<ModelServerSpec, ModelServerStatus>

export const modelServerV1 = {
  name: 'v1',
  storage: true,
  description: 'A serving runtime: image, port, probes, arguments and model layout, for models to be deployed on.',
  spec,
  status,
  columns: [
    { name: 'Image', type: 'string', jsonPath: '.spec.image', description: 'Image of the server.' },
    { name: 'Port', type: 'integer', jsonPath: '.spec.port', description: 'Port of the server.' },
    AGE,
  ],
} as const satisfies KindVersion
