/** The server with real TLS: status codes, limits, and the way of a report from another replica to the leader. */
import assert from 'node:assert/strict'
import { Agent, request as send } from 'node:https'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { createCa, issue } from '../kube/x509.ts'
import type { HttpsServer } from '../net/https-server.ts'
import { createLogger } from '../runtime/index.ts'
import { FakeClock } from '../runtime/fake-clock.ts'
import { Forwarder } from './forwarder.ts'
import { Receiver, type ReceiverDeps } from './receiver.ts'
import { ReportStore } from './report-store.ts'
import { startReportServer } from './report-server.ts'
import type { BoundPod } from './token-verifier.ts'

const NAME = 'ml-operator-webhook.ml-operator-system.svc'
const PATH = '/v1/namespaces/team-a/trainingjobs/bert/progress'
const KUBEFLOW = '/apis/trainer.kubeflow.org/v1alpha1/namespaces/team-a/trainjobs/bert/status'
const POD: BoundPod = { namespace: 'team-a', name: 'bert-workers-0', uid: 'pod' }

const notAfter = new Date(Date.now() + 3_600_000)
const ca = createCa({ commonName: 'test', notAfter })
const leaf = issue(ca, { commonName: 'operator', dnsNames: [NAME], usages: ['server'], notAfter })

interface Replica {
  readonly server: HttpsServer
  readonly store: ReportStore
  readonly clock: FakeClock
}

interface ReplicaOptions {
  readonly isLeading?: boolean
  readonly leader?: string | undefined
  readonly notReady?: string
  readonly verify?: (token: string) => Promise<BoundPod | undefined>
  readonly trusted?: string
}

async function start(t: TestContext, options: ReplicaOptions = {}): Promise<Replica> {
  const { isLeading = true, leader, notReady, verify = async (token) => (token === 'good' ? POD : undefined) } = options
  const clock = new FakeClock()
  const store = new ReportStore({ clock })
  const findJob: ReceiverDeps['findJob'] = ({ name }) =>
    name === 'bert' ? { uid: 'job', isFinished: false } : undefined
  const log = createLogger({ level: 'silent' })
  const receiver = new Receiver({ verifier: { verify }, findJob, store, notReady: () => notReady, clock, log })
  const forwarder = new Forwarder({ serverName: NAME, leaderAddress: () => leader })
  forwarder.useAuthorities(options.trusted ?? ca.cert)
  const server = await startReportServer(
    { port: 0, host: '127.0.0.1' },
    {
      isLeading: () => isLeading,
      receive: (delivery) => receiver.receive(delivery),
      forward: (report) => forwarder.forward(report),
    },
  )
  server.useCertificate(leaf)
  t.after(async () => {
    await server.close()
    await forwarder.close()
  })
  return { server, store, clock }
}

interface Request {
  readonly path?: string
  readonly method?: string
  readonly token?: string | undefined
  readonly body?: string
  readonly chunked?: boolean
}

function post({ port }: HttpsServer, request: Request = {}): Promise<readonly [number | undefined, string]> {
  const { path = PATH, method = 'POST', token = 'good', body = '{"epoch":3}', chunked = false } = request
  const headers = {
    ...(token !== '' && { authorization: `Bearer ${token}` }),
    ...(!chunked && { 'content-length': Buffer.byteLength(body) }),
  }
  return new Promise((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port,
      method,
      path,
      headers,
      ca: ca.cert,
      servername: NAME,
      agent: new Agent(),
    }
    const outgoing = send(options, (response) => {
      text(response).then((reply) => resolve([response.statusCode, reply] as const), reject)
    })
    outgoing.on('error', reject).end(body)
  })
}

test('the leader stores a report', async (t) => {
  const { server, store } = await start(t)
  assert.deepEqual(await post(server), [204, ''])
  assert.deepEqual(
    store.of('job').map(({ podUid, report }) => [podUid, report.epoch]),
    [['pod', 3]],
  )
})

test('the path and body of KEP-2779', async (t) => {
  const { server, store } = await start(t)
  const body = JSON.stringify({ trainerStatus: { progressPercentage: 45 } })
  assert.deepEqual(await post(server, { path: KUBEFLOW, body }), [200, '{}\n'])
  assert.equal(store.of('job')[0]?.report.percent, 45)
})

const refused: readonly [string, Request, number, RegExp][] = [
  ['no token', { token: '' }, 401, /Authorization/],
  ['a forged token', { token: 'bad' }, 401, /invalid or expired/],
  ['a header that is no token', { token: 'a b' }, 401, /Authorization/],
  ['the job of another pod', { path: PATH.replace('bert', 'other') }, 403, /bert-workers-0 does not belong/],
  ['no JSON', { body: 'epoch=3' }, 400, /must be JSON/],
  ['NaN', { body: '{"loss":NaN}' }, 400, /NaN/],
  ['the wrong body', { body: '{"trainerStatus":{}}' }, 400, /at least one of/],
  ['too large', { body: ' '.repeat(65_537) }, 413, /larger than 65536/],
  ['too large without a length', { body: ' '.repeat(65_537), chunked: true }, 413, /larger than 65536/],
  ['another path', { path: '/v1/namespaces/../trainingjobs/bert/progress' }, 404, /not found/],
  ['another method', { method: 'PUT' }, 405, /POST/],
]
for (const [name, request, status, reason] of refused)
  test(`refused: ${name}`, async (t) => {
    const { server, store } = await start(t)
    const [code, body] = await post(server, request)
    assert.deepEqual([code, reason.test(body), body.split('\n').length], [status, true, 2])
    assert.equal(store.size, 0)
    assert.deepEqual(await post(server), [204, ''])
  })

test('a job that sends too much is limited', async (t) => {
  const { server, clock } = await start(t)
  const codes: (number | undefined)[] = []
  for (let round = 0; round < 62; round += 1) codes.push((await post(server))[0])
  assert.deepEqual(codes.slice(-3), [204, 429, 429])
  clock.advance(1_000)
  assert.equal((await post(server))[0], 204)
})

test('not ready: the caches are not complete, or tokens cannot be verified', async (t) => {
  const early = await start(t, { notReady: 'waiting for Pod' })
  assert.deepEqual(await post(early.server), [503, 'not ready, waiting for Pod: try again\n'])
  const down = await start(t, { verify: () => Promise.reject(new Error('down')) })
  assert.equal((await post(down.server))[0], 503)
})

test('another replica sends the report to the leader, and answers as it does', async (t) => {
  const leader = await start(t)
  const other = await start(t, { isLeading: false, leader: `127.0.0.1:${leader.server.port}` })
  assert.deepEqual(await post(other.server), [204, ''])
  assert.deepEqual([leader.store.size, other.store.size], [1, 0])
  assert.equal((await post(other.server, { token: 'bad' }))[0], 401)
  assert.equal((await post(other.server, { body: 'x' }))[0], 400)
})

test('a report is forwarded once; without a leader the pod tries again', async (t) => {
  const idle = await start(t, { isLeading: false })
  assert.deepEqual(await post(idle.server), [503, 'no leader is known: try again\n'])
  const other = await start(t, { isLeading: false, leader: `127.0.0.1:${idle.server.port}` })
  assert.deepEqual(await post(other.server), [503, 'this replica does not lead: try again\n'])
})

test('a token is not sent to a process with another certificate', async (t) => {
  const leader = await start(t)
  const trusted = createCa({ commonName: 'another', notAfter }).cert
  const other = await start(t, { isLeading: false, leader: `127.0.0.1:${leader.server.port}`, trusted })
  assert.deepEqual(await post(other.server), [503, 'the leader does not respond: try again\n'])
  assert.equal(leader.store.size, 0)
})
