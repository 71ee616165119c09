/** Tracking, registration and deployment with a real MLflow server and a real API server. */
import assert from 'node:assert/strict'
import { after, test, type TestContext } from 'node:test'
import { modelDeployments, trainingJobs } from '../../src/api/kinds.ts'
import { defaultMlflowConfig, mlflowClient } from '../../src/integrations/mlflow/mlflow-client.ts'
import { Tracker } from '../../src/integrations/mlflow/tracker.ts'
import { Pod } from '../../src/kube/resources.ts'
import { ReportStore } from '../../src/reports/report-store.ts'
import { systemClock } from '../../src/runtime/index.ts'
import { startMlflow } from '../../testenv/mlflow.ts'
import { type SpecInput, trainingJob } from '../builders/training-job.ts'
import { apiCluster } from '../cluster/api-cluster.ts'
import { namespace } from '../cluster/shared-cluster.ts'
import { Kubelet } from '../fakes/kubelet.ts'
import { startOperator } from '../operator/operator.ts'
import { until } from '../timing/until.ts'

const { cluster, client, node } = await apiCluster()
const mlflow = await startMlflow()
after(() => mlflow.stop())

const NAME = 'bert'
const MINUTE = 60_000

interface Metric {
  readonly step: number
  readonly value: number
}
interface Run {
  readonly info: { readonly status: string; readonly run_id: string }
  readonly data: Readonly<Record<'params' | 'tags', readonly { readonly key: string; readonly value: string }[]>>
}

async function setUp(t: TestContext) {
  const ns = await namespace(t)
  const config = { ...defaultMlflowConfig, url: mlflow.url, timeoutMs: 5_000 }
  const server = await mlflowClient(config)
  const state = { isDone: false }
  const start = () => {
    const store = new ReportStore({ clock: systemClock, wakeMs: 10 })
    const tracker = new Tracker({ client: server, config, clock: systemClock, flushMs: 100, retryMs: 200 })
    const reports = {
      of: (uid: string) => store.of(uid),
      forget: (uid: string) => store.forget(uid),
      problemOf: () => undefined,
      follow: () => undefined,
      onReport: store.onReport.bind(store),
      onEach: store.onEach.bind(store),
      reporting: () => undefined,
    }
    return { store, tracker, operator: startOperator({ cluster, namespace: ns, reports, tracker }) }
  }
  let program = start()
  const stop = async () => {
    program.tracker.close()
    await program.operator.stop()
  }
  const decide = () => (state.isDone ? { exitCode: 0 } : undefined)
  const kubelet = new Kubelet({ client, namespace: ns, node: node.name, decide })
  const key = { namespace: ns, name: NAME }
  t.after(async () => {
    await Promise.all([stop(), kubelet.stop()])
    await client.patch(trainingJobs, key, { metadata: { finalizers: null } })
    await server.close()
  })
  const job = () => client.get(trainingJobs, key)
  return {
    key,
    job,
    create: (spec: SpecInput) =>
      client.create(
        trainingJobs,
        trainingJob(ns, NAME, { numWorkers: 1, scheduling: { schedulerName: 'none' }, ...spec }),
      ),
    /** Reports the step as the pod does. */
    report: async (step: number) => {
      const [pod] = (await client.list(Pod, { namespace: ns })).items
      const { metadata } = await job()
      const report = { step, metrics: { loss: 1 / step, accuracy: step / 100 } }
      program.store.add({ key, uid: metadata.uid ?? '' }, pod?.metadata.uid ?? '', report)
    },
    finish: () => (state.isDone = true),
    restart: async () => {
      await stop()
      program = start()
    },
    run: async (id: string) => (await server.call('GET', 'runs/get', { run_id: id }))['run'] as Run,
    steps: async (id: string, metric: string) => {
      const query = { run_id: id, metric_key: metric, max_results: '25000' }
      const found = await server.call('GET', 'metrics/get-history', query)
      return ((found['metrics'] ?? []) as readonly Metric[]).map(({ step }) => step).toSorted((a, b) => a - b)
    },
    call: server.call,
  }
}

type Fixture = Awaited<ReturnType<typeof setUp>>

const runs = ({ job }: Fixture) => until('the job to run', async () => (await job()).status?.state === 'Running')
const runIdOf = ({ job }: Fixture) => until('the run', async () => (await job()).status?.tracking?.runId)
const closed = ({ job }: Fixture, status: string) =>
  until(`the run to be ${status}`, async () => (await job()).status?.tracking?.runStatus === status)
const range = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index)

test('one run has the parameters, metrics by step, tags and the result, and the model its lineage', async (t) => {
  const fixture = await setUp(t)
  const { create, report, finish, job, run, steps, call, key } = fixture
  await create({
    dataset: 'wiki',
    model: 'bert',
    hyperparameters: { epochs: 3, learningRate: 0.1 },
    tracking: { mlflow: { experiment: 'nlp', runName: 'first', tags: { team: 'nlp' } } },
    output: { path: 'model.pt', registerAs: 'sentiment', deploy: { name: 'sentiment', runtime: 'triton' } },
  })
  await runs(fixture)
  for (const step of range(1, 20)) await report(step)
  finish()
  await closed(fixture, 'FINISHED')
  const id = await runIdOf(fixture)
  const { info, data } = await run(id)
  const entries = (list: Run['data']['tags']) => Object.fromEntries(list.map(({ key: name, value }) => [name, value]))
  assert.equal(info.status, 'FINISHED')
  const { epochs, learningRate, dataset } = entries(data.params)
  assert.deepEqual([epochs, learningRate, dataset], ['3', '0.1', 'wiki'])
  const tags = entries(data.tags)
  assert.deepEqual([tags['team'], tags['ml-operator.job'], tags['mlflow.runName']], ['nlp', NAME, 'first'])
  for (const metric of ['loss', 'accuracy']) assert.deepEqual(await steps(id, metric), range(1, 20))
  const registered = await until('the version', async () => (await job()).status?.output?.registered)
  const { name, version } = registered
  assert.equal(name, `${key.namespace}.sentiment`)
  const found = (await call('GET', 'model-versions/get', { name, version }))['model_version'] as {
    source: string
    run_id: string
    tags: Run['data']['tags']
  }
  assert.equal(found.source, `pvc://${NAME}-checkpoints/model.pt`)
  assert.equal(found.run_id, id)
  const lineage = entries(found.tags)
  assert.equal(lineage['ml-operator.dataset'], 'wiki')
  assert.equal(lineage['ml-operator.attempt'], '1')
  await until('the model', () => client.get(modelDeployments, { ...key, name: 'sentiment' }))
})

test('MLflow is killed for a minute while the job trains: nothing is missing and nothing is double afterwards', async (t) => {
  const fixture = await setUp(t)
  const { create, report, finish, job, steps, restart } = fixture
  await create({ tracking: { mlflow: { experiment: 'outage' } } })
  await runs(fixture)
  for (const step of range(1, 5)) await report(step)
  const id = await runIdOf(fixture)
  await until('the first steps', async () => (await steps(id, 'loss')).length === 5)
  await mlflow.kill()
  const killed = Date.now()
  let last = 5
  await until(
    'a minute without MLflow, in which the job reports',
    async () => {
      if (last < 100) await report((last += 1))
      return Date.now() - killed > MINUTE
    },
    2 * MINUTE,
  )
  await until('the outage in the status', async () =>
    (await job()).status?.conditions?.some(({ type, status }) => type === 'Tracked' && status === 'False'),
  )
  assert.equal((await job()).status?.state, 'Running')
  await mlflow.start()
  // The delay of a retry grows to a minute.
  await until('the missed steps', async () => (await steps(id, 'loss')).length === last, 3 * MINUTE)
  await restart()
  await until('the operator to know the run', async () => (await job()).status?.tracking?.runId === id)
  await until('the last steps', async () => {
    for (const step of range(last, 110)) await report(step)
    return (await steps(id, 'loss')).includes(110)
  })
  finish()
  await closed(fixture, 'FINISHED')
  assert.deepEqual(await steps(id, 'loss'), range(1, 110))
})
