/** ModelServer v1: a template of a serving runtime. Creating one starts no pods. */

import { conditionsSchema } from './conditions.ts'
import { containerImage } from './container-image.ts'
import { serverEnvironment } from './environment.ts'
import { AGE, type CustomObject, type KindVersion } from './kind.ts'
import { envFrom, mountedVolumesRule } from './pod-volumes.ts'
import {
  cel,
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
import { FILES_DIRECTORY, MODEL_DIRECTORY } from './server-paths.ts'
import { serverVolumeMounts, serverVolumes } from './server-pod.ts'

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
      path: path('HTTP path that returns 200 when the probe succeeds.', '/health'),
      periodSeconds: int32({ description: 'Seconds between probes.', minimum: 1, default: periodSeconds }),
      timeoutSeconds: int32({ description: 'Seconds after which a probe times out.', minimum: 1, default: 5 }),
      failureThreshold: int32({
        description: 'Number of consecutive failures after which the probe fails.',
        minimum: 1,
        default: failureThreshold,
      }),
      command: optional(
        list(text({ description: 'A word of the command.' }), {
          description:
            'Command to run in the container instead of the HTTP request. The probe succeeds when it exits with 0.',
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
    startup: optional(probe('Startup probe. Delays the other probes until the model is loaded.', 10, 30)),
    readiness: optional(probe('Readiness probe. Pods that fail it get no traffic.', 10, 3)),
    liveness: optional(probe('Liveness probe. Containers that fail it are restarted.', 15, 3)),
  },
  {
    description: 'Probes of the server, by HTTP request or by command.',
    examples: [{ readiness: { path: '/v2/health/ready' }, liveness: { path: '/v2/health/live' } }],
  },
)

const modelLayout = object(
  {
    mountPath: text({
      description: 'Directory where the model is mounted.',
      maxLength: 512,
      pattern: '^/[^:]*$',
      default: MODEL_DIRECTORY,
      rules: [staysInside('model.mountPath')],
    }),
    layout: strEnum(['file', 'directory', 'repository'], {
      description:
        'Layout of the model files. `file`: as they are at modelPath; `directory`: the same, and modelPath must be a directory; ' +
        '`repository`: under {modelName}/1/, as Triton and TensorFlow Serving expect.',
      default: 'file',
    }),
    readOnly: flag({ description: 'Whether the model is mounted read-only.', default: true }),
  },
  { description: 'How the server expects the model.', default: {} },
)

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
      description: 'Content of the file. `$(MODEL_NAME)` and `$(MODEL_PATH)` are replaced.',
      maxLength: 65_536,
      examples: ['workers=2'],
    }),
  },
  { description: 'A configuration file.' },
)

const spec = object(
  {
    image: containerImage('Container image of the model server.', 'registry.example.com/my-server:1.4'),
    port: int32({ description: 'HTTP port of the server.', minimum: 1, maximum: 65535, default: 8080 }),
    command: optional(
      list(text({ description: 'A word of the command.' }), {
        description: 'Command that starts the server. Defaults to the entrypoint of the image.',
        minItems: 1,
        maxItems: 64,
        examples: [['my-server']],
      }),
    ),
    args: optional(
      list(text({ description: 'An argument.' }), {
        description:
          'Arguments of the command. `$(MODEL_NAME)` and `$(MODEL_PATH)` are replaced, and `$(DEVICE_COUNT)` by the number of GPUs of the pod (1 without GPUs).',
        maxItems: 64,
        examples: [['--model-store=$(MODEL_PATH)']],
      }),
    ),
    env: optional(
      serverEnvironment(
        'Environment variables of the server. `$(MODEL_NAME)` and `$(MODEL_PATH)` are replaced.',
        'resources of the ModelDeployment',
      ),
    ),
    envFrom: optional(envFrom),
    volumes: optional(serverVolumes),
    volumeMounts: optional(serverVolumeMounts),
    files: optional(
      listMap(file, ['name'], {
        description: `Configuration files, mounted in ${FILES_DIRECTORY}.`,
        maxItems: 16,
        examples: [[{ name: 'server.conf', content: 'workers=2' }]],
      }),
    ),
    probes: optional(probes),
    model: modelLayout,
  },
  {
    description: 'Desired state of the runtime template.',
    rules: [
      mountedVolumesRule,
      cel(
        `!has(self.volumeMounts) || !self.volumeMounts.exists(mount, mount.mountPath == self.model.mountPath || mount.mountPath.startsWith(self.model.mountPath + '/'))`,
        'volumeMounts[].mountPath must not be model.mountPath or below it, where the operator mounts the model: choose another path',
        { fieldPath: '.volumeMounts' },
      ),
    ],
  },
)

const status = object(
  {
    observedGeneration: optional(
      int64({ description: 'Generation of the spec that this status is based on.', minimum: 0 }),
    ),
    conditions: optional(conditionsSchema),
  },
  { description: 'Observed state of the runtime template. Set by the operator.' },
)

export type ModelServerSpec = Infer<typeof spec>
export type ModelServerStatus = Infer<typeof status>
export type ModelServer = CustomObject<ModelServerSpec, ModelServerStatus>

export const modelServerV1 = {
  name: 'v1',
  storage: true,
  description: 'ModelServer is a template of a serving runtime: image, port, probes, arguments and model layout.',
  spec,
  status,
  columns: [
    { name: 'Image', type: 'string', jsonPath: '.spec.image', description: 'Container image.' },
    { name: 'Port', type: 'integer', jsonPath: '.spec.port', description: 'HTTP port.' },
    AGE,
  ],
} as const satisfies KindVersion
