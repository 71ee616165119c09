/** Whatever happened before, on the wire, on the disk and at the source: what a fetch completes is what the source has. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { ChangedError } from '../transfer/error.ts'
import { fetchModel } from './fetch.ts'
import { RANGE_BYTES } from './part.ts'
import type { ByteRange, Bytes } from '../transfer/bytes.ts'
import type { RemoteFile, Source } from './source.ts'

/** Two ranges, the second a short one. */
const SIZE = RANGE_BYTES + 1_000
const noise = randomBytes(SIZE + 10)

const FAULTS = ['none', 'ends early', 'breaks', 'is aborted in the second range'] as const
const DAMAGES = ['none', 'part', 'ranges'] as const

type Fault = (typeof FAULTS)[number]

/** A file that may be replaced by another of the same size, read over a connection that may misbehave once. */
class FlakySource implements Source {
  readonly shown = 'test://model'
  version = 0
  fault: Fault = 'none'
  readonly abort = new AbortController()

  get content(): Buffer {
    return noise.subarray(this.version, this.version + SIZE)
  }

  list(): Promise<readonly RemoteFile[]> {
    return Promise.resolve([
      { key: 'm', path: 'm.bin', size: SIZE, identity: `version ${this.version}`, hasRanges: true },
    ])
  }

  async read(file: RemoteFile, { start, end = SIZE }: ByteRange): Promise<Bytes> {
    if (file.identity !== `version ${this.version}`) throw new ChangedError('the file has changed')
    const isSecond = start >= RANGE_BYTES
    if (this.fault === 'is aborted in the second range' && isSecond) this.abort.abort(new Error('ended'))
    const fault = isSecond ? this.fault : 'none'
    if (isSecond) this.fault = 'none'
    return sent(this.content.subarray(start, end), fault)
  }

  checksum(): Promise<undefined> {
    return Promise.resolve(undefined)
  }
}

async function* sent(bytes: Uint8Array, fault: Fault): Bytes {
  const half = bytes.length >> 1
  yield bytes.subarray(0, half)
  if (fault === 'ends early') return
  if (fault === 'breaks') throw new Error('connection reset')
  yield bytes.subarray(half)
}

async function damage(directory: string, suffix: string): Promise<void> {
  const state = join(directory, '.fetch')
  const names = await readdir(state).catch(() => [])
  for (const name of names.filter((one) => one.endsWith(`.${suffix}`))) await rm(join(state, name))
}

interface Run {
  readonly fault: Fault
  readonly damage: (typeof DAMAGES)[number]
  readonly isReplaced: boolean
}

const runs: fc.Arbitrary<Run[]> = fc.array(
  fc.record({ fault: fc.constantFrom(...FAULTS), damage: fc.constantFrom(...DAMAGES), isReplaced: fc.boolean() }),
  { minLength: 1, maxLength: 4 },
)

const PLAIN: Run = { fault: 'none', damage: 'none', isReplaced: false }
const ABORTED: Run = { ...PLAIN, fault: 'is aborted in the second range' }

/** Histories that every run of the property includes: what an interrupted run leaves must not end up in another file. */
const KNOWN: readonly Run[][] = [
  [{ ...PLAIN, fault: 'ends early' }],
  [{ ...PLAIN, fault: 'breaks' }],
  [ABORTED, PLAIN],
  [ABORTED, { ...PLAIN, isReplaced: true }],
  [ABORTED, { ...PLAIN, damage: 'part' }],
  [ABORTED, { ...PLAIN, damage: 'ranges' }],
]

async function fetchInto(directory: string, version: number, fault: Fault): Promise<FlakySource> {
  const source = new FlakySource()
  source.version = version
  source.fault = fault
  const request = { uri: 'test://model', directory, layout: 'file', connections: 1 } as const
  const retryPolicy = { waitsMs: [1, 1, 1], stallMs: 60_000 }
  await fetchModel(request, { source, log: () => undefined, signal: source.abort.signal, retryPolicy }).catch(
    (error: unknown) => {
      if (!source.abort.signal.aborted) throw error
    },
  )
  return source
}

test('property: a fetch that completes leaves exactly the content of the source', async () => {
  await fc.assert(
    fc.asyncProperty(runs, async (history) => {
      const directory = await mkdtemp(join(tmpdir(), 'fetch-'))
      let version = 0
      for (const { fault, damage: what, isReplaced } of [...history, PLAIN]) {
        if (isReplaced) version += 1
        await damage(directory, what)
        const source = await fetchInto(directory, version, fault)
        if (source.abort.signal.aborted) continue
        assert.ok((await readFile(join(directory, 'm.bin'))).equals(source.content), `after ${fault}, ${what}`)
      }
      await rm(directory, { recursive: true })
    }),
    { numRuns: 30, examples: KNOWN.map((history) => [history]) },
  )
})
