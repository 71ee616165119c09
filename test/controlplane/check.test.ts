/** `ml-operator check` on a real API server. The test plays the operator. */
import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { modelDeployments, modelServers, trainingJobs } from '../../src/api/kinds.ts'
import { type Check, runCheck } from '../../src/check.ts'
import type { Resource } from '../../src/kube/object.ts'
import { trainingJob } from '../builders/training-job.ts'
import { apiCluster } from '../cluster/api-cluster.ts'
import { namespace } from '../cluster/shared-cluster.ts'
import { until } from '../timing/until.ts'

const { client } = await apiCluster()
const NAME = 'checked'

async function started(t: TestContext, more: Partial<Check> = {}, given?: string) {
  const place = given ?? (await namespace(t))
  const said: string[] = []
  const settings = { namespace: place, name: NAME, image: 'ml-operator:1', imagePullSecrets: [], storageSize: '1Gi' }
  const { signal } = new AbortController()
  const ended = runCheck({ client, settings, signal, say: (line) => said.push(line), ...more })
  const key = { namespace: place, name: NAME }
  const status = (resource: typeof trainingJobs | typeof modelDeployments, value: object) =>
    until(`the object to report ${JSON.stringify(value)}`, () =>
      client.patch(resource as typeof trainingJobs, key, { status: value }, { subresource: 'status' }),
    )
  /** None of its objects is left. */
  const isClean = async () => {
    const kinds: readonly Resource[] = [trainingJobs, modelDeployments, modelServers]
    const left = await Promise.all(kinds.map((kind) => client.list(kind, { namespace: place })))
    return left.every(({ items }) => items.length === 0)
  }
  return {
    ended: ended.then(
      () => undefined,
      (error: unknown) => String(error),
    ),
    said,
    status,
    isClean,
    key,
  }
}

const URL = 'http://checked-service.test.svc:8080'

describe('the check of an installation', () => {
  test('trains, serves and asks the model, and removes everything', async (t) => {
    const asked: string[] = []
    const run = await started(t, { ask: async (url) => asked.push(url) && 7.001 })
    await run.status(trainingJobs, { state: 'Running' })
    await until('the state to be said', () => run.said.includes('training: Running'))
    await run.status(trainingJobs, { state: 'Completed' })
    await run.status(modelDeployments, { phase: 'Running', url: URL })
    assert.equal(await run.ended, undefined)
    assert.deepEqual(asked, [URL])
    assert.match(run.said.at(-1) ?? '', /predicts 7\.001 for 3: the installation trains and serves/)
    assert.ok(await run.isClean())
  })

  test('says what it was waiting for when its time is over, and removes everything', async (t) => {
    const time = new AbortController()
    const run = await started(t, { signal: time.signal })
    await until('the start of the training', () => run.said.length > 0)
    time.abort()
    assert.match((await run.ended) ?? '', /timeout while training: no state yet/)
    assert.ok(await run.isClean())
  })

  test('replaces what an interrupted check has left', async (t) => {
    const place = await namespace(t)
    const left = await client.create(trainingJobs, trainingJob(place, NAME))
    const run = await started(t, {}, place)
    await until('a new job', async () => (await client.get(trainingJobs, run.key)).metadata.uid !== left.metadata.uid)
    await run.status(trainingJobs, { state: 'Failed' })
    assert.match((await run.ended) ?? '', /training: Failed/)
  })

  test('fails with the reason of a training that fails', async (t) => {
    const run = await started(t)
    await run.status(trainingJobs, { state: 'Failed', reason: 'BackoffLimitExceeded' })
    assert.match((await run.ended) ?? '', /training: Failed, BackoffLimitExceeded/)
    assert.ok(await run.isClean())
  })

  test('fails if the model predicts something else', async (t) => {
    const run = await started(t, { ask: async () => 3 })
    await run.status(trainingJobs, { state: 'Completed' })
    await run.status(modelDeployments, { phase: 'Running', url: URL })
    assert.match((await run.ended) ?? '', /the model predicts 3 for 3, expected 7/)
    assert.ok(await run.isClean())
  })
})
