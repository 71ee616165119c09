/** The pods of each runtime, and how they get the model. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { modelServerV1 } from '../../../api/modelserver.v1.ts'
import { fits } from '../../../api/validity.ts'
import { at, template } from '../../../../test/builders/server-pod.ts'
import { serverTemplate, validationTemplate } from './pod-template.ts'
import { builtInRuntimes } from '../runtimes/runtime.ts'

const probePath = (probe: { httpGet?: { path?: string } } | undefined): string | undefined => probe?.httpGet?.path

interface Expected {
  readonly runtime: string
  readonly image: string
  readonly port: number
  readonly ready: string | undefined
  readonly live: string
  readonly modelPath: string
  readonly has: readonly string[]
}

const table: readonly Expected[] = [
  {
    runtime: 'triton',
    image: 'nvcr.io/nvidia/tritonserver:25.06-py3',
    port: 8000,
    ready: '/v2/models/iris/ready',
    live: '/v2/health/live',
    modelPath: '/mnt/models',
    has: ['tritonserver', '--model-repository=$(MODEL_PATH)', '--model-control-mode=none'],
  },
  {
    runtime: 'onnx',
    image: 'nvcr.io/nvidia/tritonserver:25.06-py3',
    port: 8000,
    ready: '/v2/models/iris/ready',
    live: '/v2/health/live',
    modelPath: '/mnt/models',
    has: ['tritonserver'],
  },
  {
    runtime: 'torchserve',
    image: 'docker.io/pytorch/torchserve:0.12.0-cpu',
    port: 8080,
    // By a command: /ping says nothing about the model.
    ready: undefined,
    live: '/ping',
    modelPath: '/mnt/models/model.bin',
    has: ['torchserve', '--foreground', '--disable-token-auth', '--ts-config=/etc/model-server/config.properties'],
  },
  {
    runtime: 'fastapi-pytorch',
    image: 'localhost/fastapi-pytorch:dev',
    port: 8000,
    ready: '/health',
    live: '/health',
    modelPath: '/mnt/models/model.bin',
    has: [],
  },
  {
    runtime: 'sklearn',
    image: 'docker.io/seldonio/mlserver:1.6.1-sklearn',
    port: 8080,
    ready: '/v2/models/iris/ready',
    live: '/v2/health/live',
    modelPath: '/mnt/models/model.bin',
    has: ['mlserver', 'start'],
  },
  {
    runtime: 'tensorflow',
    image: 'docker.io/tensorflow/serving:2.18.0',
    port: 8501,
    ready: '/v1/models/iris',
    live: '/v1/models/iris',
    modelPath: '/mnt/models',
    has: [
      'tensorflow_model_server',
      '--model_base_path=$(MODEL_PATH)/$(MODEL_NAME)',
      '--rest_api_port=8501',
      '--max_num_load_retries=0',
    ],
  },
  {
    runtime: 'vllm',
    image: 'docker.io/vllm/vllm-openai:v0.11.0',
    port: 8000,
    ready: '/health',
    live: '/health',
    modelPath: '/mnt/models/model.bin',
    has: ['vllm', 'serve', '$(MODEL_PATH)', '--served-model-name=$(MODEL_NAME)', '--port=8000'],
  },
]

for (const { runtime, image, port, ready, live, modelPath, has } of table) {
  test(`runtime ${runtime}: port, arguments, probes and where it finds the model`, () => {
    const { container } = template({ runtime, ...at('s3://models/iris/model.bin') })
    assert.equal(container.image, image)
    assert.equal(container.ports?.[0]?.containerPort, port)
    assert.equal(probePath(container.readinessProbe), ready)
    assert.equal(probePath(container.livenessProbe), live)
    assert.ok(container.startupProbe, 'a model that loads for minutes is not killed for it')
    assert.equal(probePath(container.startupProbe), ready, 'a server without its model has not started')
    assert.equal(container.env?.find(({ name }) => name === 'MODEL_PATH')?.value, modelPath)
    const words = [...(container.command ?? []), ...(container.args ?? [])]
    for (const word of has) assert.ok(words.includes(word), `${word} in ${words.join(' ')}`)
  })
}

test('every built-in runtime is a ModelServer that a user could have written', () => {
  assert.deepEqual(Object.keys(builtInRuntimes).toSorted(), table.map(({ runtime }) => runtime).toSorted())
  for (const [name, runtime] of Object.entries(builtInRuntimes)) assert.ok(fits(modelServerV1.spec, runtime), name)
})

const devices: readonly [string, object | undefined, string][] = [
  ['no GPU', undefined, '1'],
  ['GPUs as limit', { limits: { 'nvidia.com/gpu': '4' } }, '4'],
  ['GPUs as request', { requests: { 'nvidia.com/gpu': 2 } }, '2'],
]

for (const [what, resources, count] of devices) {
  test(`vllm with ${what}: one part of the model for each device`, () => {
    for (const uri of ['hf://owner/model', 's3://models/llama/', 'pvc://models/llama']) {
      const { container } = template({ runtime: 'vllm', framework: 'llama', resources, ...at(uri) })
      const values = new Map(container.env?.map(({ name, value }) => [name, value]))
      assert.ok(container.args?.includes('--tensor-parallel-size=$(DEVICE_COUNT)'))
      assert.equal(values.get('DEVICE_COUNT'), count)
      assert.equal(values.get('MODEL_PATH'), '/mnt/models', 'the model is a directory')
      assert.equal(values.get('FRAMEWORK'), 'llama')
    }
  })
}

test('the number of devices is only for servers that refer to it', () => {
  const { container } = template({ runtime: 'triton', resources: { limits: { 'nvidia.com/gpu': 2 } } })
  assert.equal(
    container.env?.find(({ name }) => name === 'DEVICE_COUNT'),
    undefined,
  )
})

test('torchserve listens to others, wants no token, and is ready when its workers are', () => {
  const { container } = template({ runtime: 'torchserve' })
  assert.match(container.readinessProbe?.exec?.command?.join(' ') ?? '', /8081\/models.*READY/s)
  const file = builtInRuntimes['torchserve']?.files?.[0]?.content ?? ''
  for (const line of [
    'inference_address=http://0.0.0.0:8080',
    'disable_token_authorization=true',
    'metrics_mode=prometheus',
  ])
    assert.ok(file.includes(`${line}\n`), line)
})

test('an image without a runtime listens on 8080, and is probed at the endpoint of the spec', () => {
  const healthCheck = { endpoint: '/live', intervalSeconds: 30, timeoutSeconds: 2, failureThreshold: 4 }
  const { container } = template({ image: 'own:1', healthCheck })
  assert.equal(container.image, 'own:1')
  assert.equal(container.ports?.[0]?.containerPort, 8080)
  assert.equal(probePath(container.readinessProbe), '/live')
  assert.equal(container.livenessProbe?.periodSeconds, 30)
  assert.equal(container.readinessProbe?.failureThreshold, 4)
})

test('an endpoint that the model names decides about its traffic, also on a runtime', () => {
  const { container } = template({ runtime: 'torchserve', healthCheck: { endpoint: '/mine' } })
  assert.equal(probePath(container.readinessProbe), '/mine')
  assert.equal(container.readinessProbe?.exec, undefined)
})

for (const runtime of Object.keys(builtInRuntimes))
  test(`a health check of the spec acts with the runtime ${runtime}; its defaults change nothing`, () => {
    const plain = template({ runtime }).container.readinessProbe
    const healthCheck = { intervalSeconds: 7, timeoutSeconds: 6, failureThreshold: 9 }
    const { container } = template({ runtime, healthCheck })
    assert.deepEqual(container.readinessProbe, { ...plain, periodSeconds: 7, timeoutSeconds: 6, failureThreshold: 9 })
    const stated = { endpoint: '/health', intervalSeconds: 30, timeoutSeconds: 5, failureThreshold: 3 }
    assert.deepEqual(template({ runtime, healthCheck: stated }).container.readinessProbe, plain)
  })

const deliveries: readonly [string, string, readonly string[] | undefined][] = [
  ['s3://b/dir/model.pt', '/mnt/models/model.pt', ['--uri=s3://b/dir/model.pt', '--to=/mnt/models']],
  ['s3://b/dir/v1.0', '/mnt/models', ['--uri=s3://b/dir/v1.0', '--to=/mnt/models']],
  ['az://c/dir/m.onnx', '/mnt/models/m.onnx', ['--uri=az://c/dir/m.onnx', '--to=/mnt/models']],
  ['gs://b/dir', '/mnt/models', ['--uri=gs://b/dir', '--to=/mnt/models']],
  ['https://h/m.pt?x=1.5', '/mnt/models/m.pt', ['--uri=https://h/m.pt?x=1.5', '--to=/mnt/models']],
  ['hf://owner/model.v2', '/mnt/models', ['--uri=hf://owner/model.v2', '--to=/mnt/models']],
  ['pvc://claim/a/b/model.pt', '/mnt/models/model.pt', undefined],
  ['pvc://claim', '/mnt/models', undefined],
  ['/baked/in/model.pt', '/baked/in/model.pt', undefined],
]

for (const [uri, path, args] of deliveries) {
  test(`delivery of ${uri}`, () => {
    const { container, fetch } = template({ image: 'own:1', ...at(uri) })
    assert.equal(container.env?.find(({ name }) => name === 'MODEL_PATH')?.value, path)
    assert.deepEqual(fetch?.args, args && ['agent', 'fetch', ...args])
  })
}

test('a claim with the model is mounted read-only where the model is', () => {
  const { pod, container } = template({ image: 'own:1', ...at('pvc://claim/a/b/model.pt') })
  assert.deepEqual(pod.spec.volumes?.[0]?.persistentVolumeClaim, { claimName: 'claim', readOnly: true })
  assert.deepEqual(container.volumeMounts?.[0], {
    name: 'model',
    mountPath: '/mnt/models',
    readOnly: true,
    subPath: 'a/b',
  })
})

test('a cache has a directory for each artifact, and credentials go to the fetching container only', () => {
  const storage = { secretName: 's3', claimName: 'cache', accessMode: 'ReadWriteMany' }
  const { container, fetch } = template({ image: 'own:1', storage, ...at('s3://b/m.pt') })
  const other = template({ image: 'own:1', storage, ...at('s3://b/n.pt') })
  const { subPath } = container.volumeMounts?.[0] ?? {}
  assert.ok(fetch?.args?.includes(`--to=/cache/${subPath}`))
  assert.ok(fetch)
  assert.notEqual(subPath, other.container.volumeMounts?.[0]?.subPath)
  assert.deepEqual(fetch.envFrom, [{ secretRef: { name: 's3' } }])
  assert.equal(container.envFrom, undefined)
})

test('a repository is laid out by the agent under the name of the model', () => {
  const { fetch } = template({ runtime: 'triton', ...at('s3://b/m.onnx') })
  assert.deepEqual(fetch?.args?.slice(-2), ['--layout=repository', '--model-name=iris'])
})

test('pods pass Pod Security restricted, with and without GPUs', () => {
  for (const kind of [serverTemplate, validationTemplate]) {
    const resources = { limits: { 'nvidia.com/gpu': 1 } }
    const { pod } = template(
      { resources, validation: { script: 'v.py', timeoutSeconds: 5 }, ...at('s3://b/m.pt') },
      kind,
    )
    assert.equal(pod.spec.securityContext?.runAsNonRoot, true)
    assert.equal(pod.spec.securityContext?.seccompProfile?.type, 'RuntimeDefault')
    assert.equal(pod.spec.automountServiceAccountToken, false)
    for (const { securityContext } of [...pod.spec.containers, ...(pod.spec.initContainers ?? [])]) {
      assert.equal(securityContext?.allowPrivilegeEscalation, false)
      assert.deepEqual(securityContext.capabilities, { drop: ['ALL'] })
    }
    assert.ok(pod.spec.tolerations?.some(({ key }) => key === 'nvidia.com/gpu'))
  }
})

test('a container without GPUs sees none, whatever a Secret in envFrom sets', () => {
  const visible = (limits: object, kind: typeof serverTemplate): Record<string, string | undefined> => {
    const storage = { secretName: 'login' }
    const validation = { script: 'v.py', timeoutSeconds: 5 }
    const { pod } = template({ storage, validation, resources: { limits }, ...at('s3://b/m.pt') }, kind)
    const containers = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])]
    const values = containers.map(
      ({ name, env }) => [name, env?.find((one) => one.name === 'NVIDIA_VISIBLE_DEVICES')?.value] as const,
    )
    return Object.fromEntries(values)
  }
  for (const [kind, name] of [
    [serverTemplate, 'server'],
    [validationTemplate, 'validate'],
  ] as const) {
    assert.deepEqual(visible({ cpu: 1 }, kind), { [name]: 'void', 'model-fetch': 'void' })
    assert.deepEqual(visible({ 'nvidia.com/gpu': 1 }, kind), { [name]: undefined, 'model-fetch': 'void' })
    assert.deepEqual(visible({ 'nvidia.com/mig-1g.5gb': 1 }, kind), { [name]: undefined, 'model-fetch': 'void' })
  }
})
