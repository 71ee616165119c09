/** Tracking against a small MLflow that can misbehave. */
import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { FakeMlflow, type Trouble } from '../../../test/fakes/mlflow.ts'
import { until } from '../../../test/timing/until.ts'
import type { TrackedRun } from '../../api/training-tracking.ts'
import { defaultMlflowConfig, mlflowClient, type MlflowConfig } from './mlflow-client.ts'
import { PointBuffer } from './point-buffer.ts'
import { Tracker, type TrackerClock } from './tracker.ts'

const RUN: TrackedRun = {
  namespace: 'team-a',
  name: 'bert',
  uid: 'uid-1',
  experiment: 'nlp',
  runName: 'nightly',
  params: { epochs: '3', 'a:b%': 'x' },
  tags: { 'ml-operator.uid': 'uid-1', team: 'nlp' },
  status: 'RUNNING',
  startTime: 1_000,
}
const clock: TrackerClock = {
  now: () => Date.now(),
  setTimeout: (callback, ms) => {
    const timer = setTimeout(callback, ms)
    return () => clearTimeout(timer)
  },
}
const FINISHED: TrackedRun = { ...RUN, status: 'FINISHED', endTime: 9_000 }
const REGISTERED: TrackedRun = { ...FINISHED, register: { name: 'sentiment', source: 'pvc://c/m', tags: { a: 'b' } } }

async function setUp(t: TestContext, settings: Partial<MlflowConfig> = {}) {
  const server = await new FakeMlflow().start(t)
  const woken: string[] = []
  const start = async () => {
    const config = { ...defaultMlflowConfig, url: `${server.url}/`, timeoutMs: 300, ...settings }
    const client = await mlflowClient(config)
    const tracker = new Tracker({ client, config, clock, flushMs: 1, retryMs: 5 })
    tracker.onProgress(({ name }) => woken.push(name))
    t.after(async () => {
      tracker.close()
      await client.close()
    })
    return tracker
  }
  return { server, woken, start, tracker: await start() }
}

const report = (step: number, time = step) => ({ step, time, metrics: { loss: 1 / (step + 1) } })
const reaches = (tracker: Tracker, status: string) =>
  until(`the run to be ${status}`, () => tracker.of('uid-1').runStatus === status)
const hasPoints = (server: FakeMlflow, count: number) =>
  until(`${count} points`, () => (server.runs[0]?.metrics.length ?? 0) >= count)
const stepsOf = (server: FakeMlflow): number[] => server.runs[0]?.metrics.map(({ step }) => step) ?? []

test('a run has the experiment, parameters, tags, metrics by step and the result', async (t) => {
  const { server, tracker, woken } = await setUp(t)
  tracker.follow('uid-1', RUN)
  for (const step of [1, 2, 3]) tracker.note('uid-1', report(step))
  await hasPoints(server, 3)
  tracker.follow('uid-1', FINISHED)
  await reaches(tracker, 'FINISHED')
  const [run] = server.runs
  assert.ok(run)
  assert.deepEqual([...server.experiments.keys()], ['team-a/nlp'])
  assert.equal(run.name, 'nightly')
  assert.deepEqual(Object.fromEntries(run.params), { epochs: '3', a_b_: 'x' })
  assert.equal(run.tags.get('team'), 'nlp')
  assert.deepEqual(stepsOf(server), [1, 2, 3])
  assert.deepEqual([run.status, run.endTime], ['FINISHED', 9_000])
  assert.equal(tracker.of('uid-1').url, `${server.url}/#/experiments/1/runs/run1`)
  assert.ok(woken.includes('bert'))
  tracker.follow('uid-1', undefined)
  assert.deepEqual(tracker.of('uid-1'), {})
})

test('another operator continues the run: nothing is created or stored twice', async (t) => {
  const { server, tracker, start } = await setUp(t)
  tracker.follow('uid-1', RUN)
  for (const step of [1, 2]) tracker.note('uid-1', report(step))
  await hasPoints(server, 2)
  tracker.close()
  const next = await start()
  next.follow('uid-1', RUN)
  for (const step of [2, 3]) next.note('uid-1', report(step, 1_000 + step))
  next.follow('uid-1', FINISHED)
  await reaches(next, 'FINISHED')
  assert.equal(server.runs.length, 1)
  assert.deepEqual(stepsOf(server), [1, 2, 3])
})

test('a version is registered once, with its lineage', async (t) => {
  const { server, tracker, start } = await setUp(t)
  tracker.follow('uid-1', REGISTERED)
  await until('the version', () => tracker.of('uid-1').registered)
  tracker.close()
  const next = await start()
  next.follow('uid-1', { ...REGISTERED, runId: 'run1' })
  await until('the version', () => next.of('uid-1').registered)
  assert.deepEqual(next.of('uid-1').registered, { name: 'team-a.sentiment', version: '1' })
  assert.equal(server.versions.length, 1)
  assert.equal(server.versions[0]?.source, 'pvc://c/m')
  assert.deepEqual(server.versions[0]?.tags, [{ key: 'a', value: 'b' }])
})

describe('trouble', () => {
  const troubles: readonly Trouble[] = ['500', 'garbage', 'list', 'huge', 'hang', 'nothing', 'lost', 'redirect']
  for (const trouble of troubles) {
    test(`${trouble}: the run is complete afterwards, without doubles`, async (t) => {
      const { server, tracker } = await setUp(t)
      tracker.follow('uid-1', RUN)
      tracker.note('uid-1', report(1))
      await hasPoints(server, 1)
      server.trouble = trouble
      for (const step of [2, 3, 4]) tracker.note('uid-1', report(step))
      const { problem } = await until('a problem', () => {
        const progress = tracker.of('uid-1')
        return progress.problem === undefined ? undefined : progress
      })
      assert.match(problem ?? '', /^MLflow does not have everything: /)
      tracker.follow('uid-1', FINISHED)
      server.trouble = undefined
      await reaches(tracker, 'FINISHED')
      assert.deepEqual(stepsOf(server), [1, 2, 3, 4])
      assert.equal(server.runs.length, 1)
      assert.equal(tracker.of('uid-1').problem, undefined)
      assert.ok(!server.requests.includes('/elsewhere'), 'redirects are not followed')
    })
  }

  test('from the beginning: the run is created once', async (t) => {
    const { server, tracker } = await setUp(t)
    server.trouble = 'lost'
    server.troubled = 'runs/create'
    tracker.follow('uid-1', RUN)
    await until('a run', () => server.runs.length > 0)
    server.trouble = undefined
    tracker.follow('uid-1', FINISHED)
    await reaches(tracker, 'FINISHED')
    assert.equal(server.runs.length, 1)
  })

  test('a run that was removed from MLflow is created again', async (t) => {
    const { server, tracker } = await setUp(t)
    tracker.follow('uid-1', { ...FINISHED, runId: 'gone' })
    await reaches(tracker, 'FINISHED')
    assert.equal(server.runs.length, 1)
  })
})

describe('credentials', () => {
  const directory = (files: Readonly<Record<string, string | undefined>>): string => {
    const path = mkdtempSync(join(tmpdir(), 'mlflow-'))
    for (const [name, content] of Object.entries(files)) writeFileSync(join(path, name), content ?? '')
    return path
  }
  const cases = [
    { title: 'a token', files: { token: 'secret\n' }, want: 'Bearer secret' },
    { title: 'a user', files: { username: 'u', password: 'p' }, want: 'Basic dTpw' },
  ]
  for (const { title, files, want } of cases)
    test(`${title} from files`, async (t) => {
      const { server, tracker } = await setUp(t, { credentialsDirectory: directory(files) })
      tracker.follow('uid-1', FINISHED)
      await reaches(tracker, 'FINISHED')
      assert.deepEqual([...server.authorizations], [want])
    })

  test('that are missing are a problem, and nothing is sent', async (t) => {
    const { server, tracker } = await setUp(t, { credentialsDirectory: directory({}) })
    tracker.follow('uid-1', RUN)
    await until('a problem', () => tracker.of('uid-1').problem)
    assert.match(tracker.of('uid-1').problem ?? '', /neither a file token nor/)
    assert.deepEqual(server.requests, [])
  })
})

describe('points in memory', () => {
  test('are bounded for each job and in total; the oldest are dropped', () => {
    const points = new PointBuffer({ maxPerJob: 100, maxTotal: 250 })
    for (let step = 1; step <= 1_000; step += 1) for (const uid of ['a', 'b', 'c']) points.add(uid, report(step), step)
    assert.ok(points.size <= 250)
    for (const uid of ['a', 'b', 'c']) assert.ok(points.next(uid, 1_000).length <= 100)
    assert.equal(points.size + points.dropped, 3_000)
    assert.equal(points.next('c', 1_000).at(-1)?.step, 1_000)
    for (const uid of ['a', 'b', 'c']) points.forget(uid)
    assert.equal(points.size, 0)
  })

  test('of one job leave room for others', () => {
    const points = new PointBuffer({ maxPerJob: 100, maxTotal: 10_000 })
    for (let step = 1; step <= 1_000; step += 1) points.add('a', report(step), step)
    assert.ok(points.size <= 100)
  })

  test('have each step of a metric once, and metrics without steps by time', () => {
    const points = new PointBuffer()
    for (const step of [1, 1, 2, 1, 3]) points.add('a', report(step), 0)
    points.add('a', { metrics: { speed: 1 } }, 5)
    points.add('a', { metrics: { speed: 2 } }, 5)
    points.add('a', { metrics: { speed: 3 } }, 6)
    const of = (key: string) => points.next('a', 100).filter((point) => point.key === key)
    assert.deepEqual(
      of('loss').map(({ step }) => step),
      [1, 2, 3],
    )
    assert.deepEqual(
      of('speed').map(({ value }) => value),
      [1, 3],
    )
  })

  test('have a limited number of names', () => {
    const points = new PointBuffer()
    for (let index = 0; index < 1_000; index += 1) points.add('a', { step: 1, metrics: { [`m${index}`]: 1 } }, 1)
    assert.equal(points.size, 256)
  })
})
