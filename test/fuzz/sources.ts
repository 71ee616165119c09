/** Responses of model servers and stores: raw HTTP over a socket, read by the real sources. */
import { createServer, type Server, type Socket } from 'node:net'
import { ChangedError, TransferError, TransientError } from '../../src/agent/transfer/error.ts'
import type { Source } from '../../src/agent/fetch/source.ts'
import { sourceOf } from '../../src/agent/fetch/sources/source-of.ts'
import { unlessStalled } from '../../src/agent/transfer/stall.ts'
import { listen } from '../../src/net/listening.ts'
import { outcome, type Subject, type Target } from './target.ts'

/** More requests than this for one model are an endless loop. */
const MOST_REQUESTS = 30
const MOST_BYTES = 100_000

const http = (body: string, head = '200 OK\r\ncontent-type: application/json'): string =>
  `HTTP/1.1 ${head}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`

const RANGE = '206 Partial Content\r\ncontent-range: bytes 0-0/7\r\netag: "a"'
const S3_LIST = `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>m/a</Key><Size>7</Size><ETag>"e"</ETag></Contents></ListBucketResult>`
const S3_ERROR = '<?xml version="1.0"?><Error><Code>NoSuchKey</Code><Message>no</Message></Error>'
const HUB = JSON.stringify({
  sha: 'c0ffee',
  siblings: [
    { rfilename: 'a/b', size: 7, blobId: 'b' },
    { rfilename: 'c', lfs: { sha256: 'AB', size: 1 } },
  ],
})
const GCS = JSON.stringify({ items: [{ name: 'm/a', size: '7', generation: '1', md5Hash: 'AAAA' }], nextPageToken: '' })
const REDIRECT = http('', '302 Found\r\nlocation: /elsewhere')

const answers: readonly {
  name: string
  uri: string
  env: (url: string) => NodeJS.ProcessEnv
  seeds: readonly string[]
}[] = [
  {
    name: 'HTTP answers',
    uri: 'http',
    env: () => ({}),
    seeds: [http('w', RANGE), http('weights'), REDIRECT, http('', '416 No\r\ncontent-range: bytes */0')],
  },
  {
    name: 'Hugging Face answers',
    uri: 'hf://o/m',
    env: (url) => ({ HF_ENDPOINT: url }),
    seeds: [http(HUB), http('{}'), REDIRECT],
  },
  {
    name: 'GCS answers',
    uri: 'gs://b/m/',
    env: (url) => ({ STORAGE_EMULATOR_HOST: url }),
    seeds: [http(GCS), http('{"items":[]}'), http('', '404 Not Found')],
  },
  {
    name: 'S3 answers',
    uri: 's3://b/m/',
    env: (url) => ({ AWS_ENDPOINT_URL: url, AWS_NO_SIGN_REQUEST: '1' }),
    seeds: [http(S3_LIST, '200 OK\r\ncontent-type: application/xml\r\netag: "e"'), http(S3_ERROR, '404 Not Found')],
  },
]

/**
 * undici creates an error for each header past its limit, up to 64 KiB of them at once: 100 ms of CPU time. This is harmless
 * in the init container, which serves no requests.
 */
const STALL_MS = 250

export const sources: readonly Target[] = answers.map(({ name, uri, env, seeds }) => ({
  name,
  share: 1,
  stallMs: STALL_MS,
  seeds,
  start: () => fetching((url) => sourceOf(uri === 'http' ? `${url}/model.bin` : uri, env(url))),
}))

async function fetching(make: (url: string) => Promise<Source>): Promise<Subject> {
  let input: Buffer = Buffer.alloc(0)
  let requests = 0
  let stop = new AbortController()
  const open = new Set<Socket>()
  const server: Server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => undefined).on('close', () => open.delete(socket))
    socket.once('data', () => {
      requests += 1
      if (requests > MOST_REQUESTS) stop.abort()
      socket.end(input)
    })
  })
  const url = `http://127.0.0.1:${await listen(server, { port: 0, host: '127.0.0.1' })}`
  const source = await make(url)
  return {
    take: async (bytes) => {
      input = bytes
      requests = 0
      stop = new AbortController()
      const { signal } = stop
      await outcome(
        () =>
          fetched(source, signal).catch((error: unknown) => {
            if (!signal.aborted) throw error
          }),
        [TransferError, TransientError, ChangedError],
      )
      if (requests > MOST_REQUESTS) throw new TypeError('endless loop of requests')
      for (const socket of open) socket.destroy()
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of open) socket.destroy()
      }),
  }
}

async function fetched(source: Source, signal: AbortSignal): Promise<void> {
  const [file] = await source.list(signal)
  if (file === undefined) throw new TypeError('a list without files')
  await source.checksum(file, signal)
  let left = MOST_BYTES
  const range = { start: 0, ...(file.hasRanges && { end: file.size ?? 1 }) }
  for await (const bytes of unlessStalled((either) => source.read(file, range, either), 60_000, signal)) {
    left -= bytes.length
    if (left < 0) return
  }
}
