/**
 * The examples of README.md and docs/quickstart.md, applied in their order and as written, with the command of the
 * quickstart: each ends Completed or Running. The namespace enforces Pod Security `restricted`, and the default StorageClass
 * offers ReadWriteOnce only. The GPUs are advertised, but do not exist.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { parse } from 'yaml'
import { envoyImage } from '../../images/envoy.ts'
import { modelServerImage } from '../../images/model-server.ts'
import { OPERATOR_IMAGE, operatorImage } from '../../images/operator.ts'
import { trainerImage } from '../../images/trainer.ts'
import { createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import type { KubeObject } from '../../src/kube/object.ts'
import { defaultServingConfig } from '../../src/plan/serving/index.ts'
import { runCommand } from '../../testenv/command.ts'
import { buildImage } from '../../testenv/image.ts'
import type { Kubectl } from '../../testenv/kubectl.ts'
import { trainingJob } from '../builders/training-job.ts'
import { installApi } from '../cluster/api.ts'
import { setDefaultClass } from '../cluster/block-storage.ts'
import { advertiseGpus } from '../cluster/gpus.ts'
import { type NodeCluster, nodeCluster, restrictedNamespace } from '../cluster/node-cluster.ts'
import { blocksIn } from '../documents/blocks.ts'
import { type OperatorProcess, startOperatorProcess } from '../operator/operator-process.ts'
import { until } from '../timing/until.ts'

/** The images are loaded as on kind, so the quickstart's variable has the value for kind. */
const REGISTRY = 'ml-operator'
const MINUTES = 3 * 60_000
const DOCUMENTS = ['README.md', 'docs/quickstart.md']

let cluster: NodeCluster
let operator: OperatorProcess
let directory: string

interface Example extends KubeObject {
  readonly status?: { readonly state?: string; readonly phase?: string; readonly activeVersions?: readonly object[] }
}

const examplesIn = (document: string): string[] =>
  blocksIn(document).flatMap(({ language, label, text }) => (language === 'yaml' && label === '' ? [text] : []))

/** `sed … hello.yaml | kubectl apply -f -`, from the quickstart. */
function applyCommand(): string {
  const commands = blocksIn('docs/quickstart.md').filter(
    ({ language, text }) => language === 'sh' && text.startsWith('sed '),
  )
  assert.equal(commands.length, 1)
  return commands[0]?.text.trim() ?? ''
}

/** Runs the command with this file, in the namespace. */
async function apply(kubectl: Kubectl, text: string): Promise<Example> {
  const path = await kubectl('get', 'serviceaccount', 'default', '-o=jsonpath={.metadata.namespace}')
  const program = `#!/bin/sh\nexec ${cluster.binaries.path('kubectl')} -n ${path} "$@"\n`
  await writeFile(join(directory, 'kubectl'), program, { mode: 0o755 })
  await writeFile(join(directory, 'hello.yaml'), text)
  const PATH = `${directory}:${process.env['PATH']}`
  const env = { ...process.env, PATH, REGISTRY, KUBECONFIG: cluster.kubeconfig }
  await runCommand(['bash', '-euo', 'pipefail', '-c', `cd '${directory}'\n${applyCommand()}`], { env })
  return parse(text) as Example
}

/** A job must complete, a model must run with every version ready. */
async function assertWorks(kubectl: Kubectl, { kind, metadata, ...rest }: Example): Promise<void> {
  const get = async (): Promise<Example> =>
    JSON.parse(await kubectl('get', `${kind.toLowerCase()}s.ml.example.com`, metadata.name, '-o=json')) as Example
  let seen = ''
  await until(
    `${kind} ${metadata.name}`,
    async () => {
      const found = await get()
      seen = JSON.stringify(found.status)
      if (kind === 'TrainingJob') return found.status?.state === 'Completed'
      const { versions } = (rest as unknown as { readonly spec: { readonly versions: readonly object[] } }).spec
      const weights = versions.map((one) => 'weight' in one && one.weight)
      const current = found.status?.activeVersions?.map((one) => 'weight' in one && one.weight)
      return found.status?.phase === 'Running' && JSON.stringify(current) === JSON.stringify(weights)
    },
    MINUTES,
  ).catch((error: unknown) => assert.fail(`${String(error)}: ${seen}`))
}

describe('every example works as written', () => {
  before(async () => {
    cluster = await nodeCluster()
    const envoy = envoyImage(defaultServingConfig.routerImage)
    for (const spec of [operatorImage(), trainerImage(), modelServerImage(), envoy])
      await cluster.load(await buildImage(spec))
    const client = createClient(await configFromKubeconfig(cluster.kubeconfig))
    await installApi(client)
    await client.close()
    directory = await mkdtemp(join(tmpdir(), 'examples-'))
    operator = await startOperatorProcess(cluster.kubeconfig, [`--agent-image=${OPERATOR_IMAGE}`])
    await setDefaultClass(cluster)
    await advertiseGpus(cluster, 2)
  })

  after(async () => {
    await operator?.stop()
    await advertiseGpus(cluster, 1)
    await setDefaultClass(cluster, 'standard')
    await rm(directory, { recursive: true })
  })

  test('the default class refuses a volume for several nodes, and the job tells what to change', async (t) => {
    const kubectl = await restrictedNamespace(t)
    await kubectl.with([{ ...trainingJob('', 'shared'), metadata: { name: 'shared' } }], 'create')
    t.after(() => kubectl('delete', 'trainingjob', 'shared'))
    const expected =
      /^VolumeNotBound: .*ReadWriteMany is not supported \(requested: ReadWriteMany of StorageClass block; .* edit checkpoint.storage/
    await until('the reason', async () =>
      expected.test(await kubectl('get', 'trainingjob', 'shared', '-o=jsonpath={.status.reason}')),
    )
  })

  for (const document of DOCUMENTS)
    test(document, async (t) => {
      const kubectl = await restrictedNamespace(t)
      const examples = examplesIn(document)
      assert.ok(examples.length >= 3)
      // While the operator runs: it removes the finalizers of jobs.
      t.after(() => kubectl('delete', 'modeldeployments.ml.example.com,trainingjobs', '--all', '--timeout=2m'))
      for (const text of examples) {
        const began = Date.now()
        const example = await apply(kubectl, text)
        await assertWorks(kubectl, example)
        t.diagnostic(`${example.kind} ${example.metadata.name}: ${((Date.now() - began) / 1_000).toFixed(0)} s`)
      }
    })
})
