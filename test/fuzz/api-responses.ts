/** Responses of the API server or a proxy: errors with their headers, lists, and watch lines. */
import { fixedCredential } from '../../src/kube/client-config.ts'
import { type Client, createClient } from '../../src/kube/client.ts'
import { ApiError, ConnectionError } from '../../src/kube/errors.ts'
import type { Response } from '../../src/kube/interceptor.ts'
import { Pod } from '../../src/kube/resources.ts'
import { retryDelayMs } from '../../src/kube/retry.ts'
import { stateAfter } from '../../src/kube/watch-state.ts'
import { watchStream } from '../../src/kube/watch-stream.ts'
import { outcome, type Target } from './target.ts'

const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'n', uid: 'u', resourceVersion: '7' } }
const EVENTS = [
  { type: 'ADDED', object: pod },
  {
    type: 'BOOKMARK',
    object: { metadata: { resourceVersion: '9', annotations: { 'k8s.io/initial-events-end': 'true' } } },
  },
  { type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired', details: { retryAfterSeconds: 1 } } },
].map((event) => JSON.stringify(event))

const status = {
  kind: 'Status',
  message: 'no',
  reason: 'TooManyRequests',
  code: 429,
  details: { retryAfterSeconds: 1, causes: [{ reason: 'DisruptionBudget' }] },
}

function clientReceiving(answer: () => Response): Client {
  const config = { server: 'http://127.0.0.1:1', namespace: 'n', credentials: fixedCredential({}) }
  return createClient(config, { interceptors: [() => Promise.resolve(answer())] })
}

/** Checks that every error leads to a valid delay. */
function checkDelays(error: unknown): void {
  const waiting = stateAfter(
    { phase: 'watching', mode: 'stream', resourceVersion: '1', failures: 3 },
    { progressed: false, error },
    () => 0.5,
  )
  const delays = [
    waiting.phase === 'waiting' ? waiting.delayMs : 0,
    retryDelayMs(error, { repeatable: true, conditional: false }, 1, () => 0.5) ?? 0,
  ]
  for (const delay of delays) if (!(delay >= 0 && delay < 2 ** 31)) throw new TypeError(`waits for ${delay} ms`)
}

async function judged(work: () => Promise<unknown>): Promise<void> {
  await outcome(
    () =>
      work().catch((error: unknown) => {
        checkDelays(error)
        throw error
      }),
    [ApiError, ConnectionError],
  )
}

export const apiResponses: readonly Target[] = [
  {
    name: 'watch lines',
    share: 100,
    seeds: [EVENTS.join('\n'), `${EVENTS[0]}\n${EVENTS[1]}\n`],
    start: async () => {
      let input: Buffer = Buffer.alloc(0)
      const client = clientReceiving(() => ({ status: 200, headers: {}, body: pieces(input) }))
      return {
        take: async (bytes) => {
          input = bytes
          const { signal } = new AbortController()
          await judged(async () => {
            for await (const event of watchStream(client, Pod, { signal, inactivityMs: 60_000 })) {
              if (typeof event.object.metadata !== 'object') throw new TypeError('an event without metadata')
            }
          })
        },
        stop: () => client.close(),
      }
    },
  },
  {
    name: 'refusals',
    share: 60,
    seeds: [
      `429\n3\n${JSON.stringify(status)}`,
      '503\nWed, 21 Oct 2026 07:28:00 GMT\n<html>',
      `409\n\n${JSON.stringify(status)}`,
    ],
    start: async () => {
      let [code, retryAfter, body] = ['', '', '']
      const client = clientReceiving(() => ({
        status: 400 + (Number(code) % 200 || 0),
        headers: { 'retry-after': retryAfter },
        body,
      }))
      return {
        take: (bytes) => {
          const [first = '', second = '', ...rest] = bytes.toString().split('\n')
          ;[code, retryAfter, body] = [first, second, rest.join('\n')]
          return judged(() => client.get(Pod, { namespace: 'n', name: 'p' }, { timeoutMs: 1 }))
        },
        stop: () => client.close(),
      }
    },
  },
]

/** Splits bytes into chunks, as a network does. */
async function* pieces(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 100) yield bytes.subarray(at, at + 100)
}
