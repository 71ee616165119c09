/** What runs a model, and what happens when it is unknown. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { modelDeployment, ServingCluster } from '../../../../test/sim/serving-cluster.ts'
import { calm } from '../../../../test/sim/serving-history.ts'
import { getCondition } from '../../../api/conditions.ts'
import type { ModelServer } from '../../../api/modelserver.v1.ts'
import { isSingleFile } from '../objects/model-source.ts'
import { planServing } from '../plan.ts'
import { builtInRuntimes, runtimeConfigProblem } from '../runtimes/runtime.ts'
import { resolveRuntime } from './runtime.ts'

const start = (spec: object = {}): ServingCluster => new ServingCluster(planServing, () => undefined, { spec })

function settled(spec: object = {}): ServingCluster {
  const cluster = start(spec)
  assert.ok(calm(cluster, 40))
  return cluster
}

test('reports an unknown runtime by name, and leaves running objects unchanged', () => {
  const cluster = settled()
  cluster.edit({ runtime: 'mine' })
  const plan = cluster.pass()
  assert.deepEqual([plan.writes, plan.deletions], [[], []])
  assert.equal(plan.status?.phase, 'Degraded')
  assert.match(plan.status?.message ?? '', /no ModelServer mine .*triton/)
  assert.equal(getCondition(cluster.model.status?.conditions, 'Ready')?.status, 'True', 'it still answers')
})

test('reports a single file for a server of directories, and leaves running objects unchanged', () => {
  const cluster = settled()
  const versions = [{ name: 'v1', weight: 100, modelPath: 's3://models/llama/model.gguf' }]
  cluster.edit({ runtime: 'vllm', versions })
  const plan = cluster.pass()
  assert.deepEqual([plan.writes, plan.deletions], [[], []])
  assert.match(
    plan.status?.message ?? '',
    /^spec\.versions\[\]\.modelPath of v1 is a single file.* vllm .*s3:\/\/bucket\/model/,
  )
  assert.deepEqual(
    plan.events.map(({ reason }) => reason),
    ['ModelPathInvalid'],
  )
})

const own = { spec: { image: 'own:1', port: 9000 } } as unknown as ModelServer

const table: readonly (readonly [string, object, ModelServer | undefined, string | undefined])[] = [
  ['the image alone', { image: 'iris:1' }, undefined, 'iris:1'],
  ['a built-in runtime of its framework', { image: undefined }, undefined, 'docker.io/seldonio/mlserver:1.6.1-sklearn'],
  ['a ModelServer of the namespace', { runtime: 'mine' }, own, 'own:1'],
  ['a ModelServer of the namespace instead of a built-in one', { runtime: 'sklearn' }, own, 'own:1'],
  ['none for a framework without a default', { framework: 'pytorch', image: undefined }, undefined, undefined],
  ['an unknown one', { runtime: 'mine' }, undefined, undefined],
  ['a name that only looks built in', { runtime: 'constructor' }, undefined, undefined],
]

for (const [what, spec, server, image] of table)
  test(`runtime: ${what}`, () => {
    const observed = { ...start().observed, model: modelDeployment(spec), ...(server && { server }) }
    assert.equal(resolveRuntime(observed)?.image, image)
  })

test('a stored model whose framework lost its default runtime keeps running, and its status names the field', () => {
  const cluster = settled({ framework: 'onnx', image: undefined })
  cluster.edit({ framework: 'pytorch' })
  const plan = cluster.pass()
  assert.deepEqual([plan.writes, plan.deletions], [[], []])
  assert.match(plan.status?.message ?? '', /spec\.runtime or spec\.image is required.*fastapi-pytorch.*torchserve/)
})

const paths: readonly (readonly [string, boolean])[] = [
  ['s3://models/llama/model.gguf', true],
  ['https://host/llama', true],
  ['pvc://models/llama.safetensors', true],
  ['hf://Qwen/Qwen3-8B', false],
  ['hf://owner/model.gguf', false],
  ['s3://models/llama-3.1', false],
  ['s3://models/llama/', false],
  ['oci://registry.example.com/models/bert:v1.rc', false],
  ['oci://registry.example.com/models/bert:v1?path=/models/bert', false],
  ['oci://registry.example.com/models/bert:v1?path=/models/bert.gguf', true],
]

for (const [uri, isFile] of paths)
  test(`${uri} is ${isFile ? 'a single file' : 'a directory'}`, () => assert.equal(isSingleFile(uri), isFile))

const configured = { sklearn: { image: 'mirror/sklearn:1', args: ['--debug'] } }

test('runtime: a built-in one as the administrator configured it, unless the namespace has its own', () => {
  const { observed } = start()
  const model = modelDeployment({ runtime: 'sklearn', image: undefined })
  const config = { ...observed.config, runtimes: configured }
  const found = resolveRuntime({ ...observed, model, config })
  assert.equal(found?.image, 'mirror/sklearn:1')
  assert.deepEqual(found?.args, ['start', '/tmp', '--debug'])
  assert.equal(resolveRuntime({ ...observed, model, config, server: own }), own.spec)
  const other = modelDeployment({ runtime: 'triton', image: undefined })
  assert.equal(resolveRuntime({ ...observed, model: other, config })?.image, builtInRuntimes['triton']?.image)
})

const problems: readonly (readonly [object, RegExp | undefined])[] = [
  [configured, undefined],
  [{}, undefined],
  [{ caffe: { image: 'a' } }, /runtimes\.caffe: there is no such built-in runtime: use one of triton/],
  [{ constructor: { image: 'a' } }, /no such built-in runtime/],
  [{ triton: 'image' }, /runtimes\.triton must have an image/],
  [{ triton: { image: 3 } }, /runtimes\.triton/],
  [{ triton: { args: [1] } }, /list of strings/],
  [{ triton: { port: 80 } }, /runtimes\.triton/],
]

for (const [runtimes, problem] of problems)
  test(`configuration of runtimes: ${JSON.stringify(runtimes)}`, () => {
    const found = runtimeConfigProblem(runtimes as Record<string, unknown>)
    if (problem) assert.match(found ?? '', problem)
    else assert.equal(found, undefined)
  })

test('a missing runtime is reported once', () => {
  const cluster = settled()
  cluster.edit({ runtime: 'mine' })
  assert.deepEqual(
    cluster.pass().events.map(({ reason }) => reason),
    ['RuntimeNotFound'],
  )
  assert.deepEqual(cluster.pass().events, [])
})
