/** The shared suite of all sources of progress: pods that send, pages of metrics, and logs. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { describe, test, type TestContext } from 'node:test'
import { until } from '../../../test/timing/until.ts'
import { type ProgressTarget, reportSources, type ReportSource } from '../../api/training-report.ts'
import { listen } from '../../net/listening.ts'
import { createLogger, systemClock } from '../../runtime/index.ts'
import { Follower } from '../follower.ts'
import { Receiver } from '../receiver.ts'
import { ReportStore } from '../report-store.ts'
import type { ProgressReader } from './contract.ts'
import { LogReader } from './log.ts'
import { MetricsReader } from './metrics.ts'

const job = { key: { namespace: 'team-a', name: 'bert' }, uid: 'job' }
const log = createLogger({ level: 'silent' })

/** A pod as one source sees it. */
interface Speaker {
  readonly reader?: ProgressReader
  readonly target: ProgressTarget
  /** The training code says this. */
  say(store: ReportStore, words: { readonly step: number; readonly loss: number }): Promise<void>
  /** Something that is no report. */
  babble(store: ReportStore, bytes: Buffer): Promise<void>
}

const pod = { namespace: 'team-a', name: 'bert-workers-0', uid: 'pod', container: 'c', ip: '127.0.0.1' }

const speakers: Readonly<Record<ReportSource, (t: TestContext) => Promise<Speaker>>> = {
  Report: () => {
    const send = async (store: ReportStore, body: string): Promise<void> => {
      const receiver = new Receiver({
        verifier: { verify: () => Promise.resolve({ namespace: 'team-a', name: pod.name, uid: pod.uid }) },
        findJob: () => ({ uid: job.uid, isFinished: false }),
        store,
        notReady: () => undefined,
        clock: systemClock,
        log,
      })
      await receiver.receive({ key: job.key, format: 'own', token: 't', body })
    }
    return Promise.resolve({
      target: { pod },
      say: (store, { step, loss }) => send(store, `{"step":${step}${Number.isFinite(loss) ? `,"loss":${loss}` : ''}}`),
      babble: (store, bytes) => send(store, bytes.toString()),
    })
  },
  Metrics: async (t) => {
    let page: Buffer = Buffer.from('')
    const server = createServer((_request, response) => response.end(page))
    const port = await listen(server, { port: 0, host: '127.0.0.1' })
    t.after(() => server.close())
    return {
      reader: new MetricsReader({ clock: systemClock, intervalMs: 20 }),
      target: { pod, metrics: { port, path: '/metrics' } },
      say: (_store, { step, loss }) => {
        page = Buffer.from(`# HELP x\ntraining_step{rank="0"} ${step}\ntraining_loss ${loss} 1700000000000\n`)
        return Promise.resolve()
      },
      babble: (_store, bytes) => {
        page = bytes
        return Promise.resolve()
      },
    }
  },
  Log: () => {
    const waiting: Buffer[] = []
    let ring: () => void = () => undefined
    const write = (bytes: Buffer): Promise<void> => {
      waiting.push(bytes)
      ring()
      return Promise.resolve()
    }
    async function* open(_pod: unknown, { signal }: { readonly signal: AbortSignal }) {
      while (!signal.aborted) {
        yield* waiting.splice(0)
        await new Promise<void>((resolve) => {
          ring = resolve
          signal.addEventListener('abort', () => resolve(), { once: true })
        })
      }
    }
    return Promise.resolve({
      reader: new LogReader({ open, clock: systemClock, log, maxLogs: 1, delayMs: 0 }),
      target: { pod },
      say: (_store, { step, loss }) => write(Buffer.from(`step=${step} loss=${loss}\n`)),
      babble: (_store, bytes) => write(bytes),
    })
  },
}

async function setUp(t: TestContext, source: ReportSource) {
  const speaker = await speakers[source](t)
  const store = new ReportStore({ clock: systemClock, wakeMs: 1 })
  const follower = new Follower({ readers: speaker.reader ? [speaker.reader] : [], store, log })
  t.after(() => follower.close())
  follower.follow(job, speaker.target)
  const stepReached = (step: number) =>
    until(`step ${step}`, () => {
      const [progress] = store.of(job.uid)
      return progress?.report.step === step && progress
    })
  return { speaker, store, follower, stepReached }
}

for (const source of reportSources) {
  describe(source, () => {
    test('what the training code says is stored, with the name of the source', async (t) => {
      const { speaker, store, stepReached } = await setUp(t, source)
      await speaker.say(store, { step: 7, loss: 0.5 })
      const { report, ...rest } = await stepReached(7)
      assert.deepEqual([report.metrics, rest.source, rest.podUid], [{ loss: 0.5 }, source, 'pod'])
    })

    test('a loss that is no number does not hide the progress', async (t) => {
      const { speaker, store, stepReached } = await setUp(t, source)
      await speaker.say(store, { step: 8, loss: Number.NaN })
      assert.equal((await stepReached(8)).report.metrics, undefined)
    })

    test('hostile bytes are ignored, and the source goes on', async (t) => {
      const { speaker, store, stepReached } = await setUp(t, source)
      const bytes = [
        Buffer.alloc(10_000, 0xff),
        Buffer.from('\u0000{"step":1e999}\n{"step":\n'),
        Buffer.alloc(10 * 1024 * 1024, 'x'),
        Buffer.from(`\n{"metrics":{${Array.from({ length: 10_000 }, (_, index) => `"m${index}":1`).join()}}}\n`),
      ]
      for (const one of bytes) await speaker.babble(store, one)
      await speaker.say(store, { step: 9, loss: 1 })
      await stepReached(9)
    })

    test('a source before it wins, and one after it is ignored', async (t) => {
      const { speaker, store, follower, stepReached } = await setUp(t, source)
      await speaker.say(store, { step: 7, loss: 0.5 })
      await stepReached(7)
      const last = reportSources.at(-1) ?? source
      if (source !== last) store.add(job, 'other', { step: 1 }, last)
      assert.deepEqual(
        store.of(job.uid).map((one) => one.source),
        [source],
      )
      if (source === reportSources[0]) return
      store.add(job, 'pod', { step: 99 }, reportSources[0])
      follower.follow(job, speaker.target)
      await speaker.say(store, { step: 8, loss: 0.5 })
      assert.deepEqual(
        store.of(job.uid).map((one) => [one.source, one.report.step]),
        [[reportSources[0], 99]],
      )
    })
  })
}
