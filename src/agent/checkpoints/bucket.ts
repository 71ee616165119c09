/**
 * Checkpoints in a bucket. A checkpoint is complete when its marker is written, which is the last object. Until then an
 * object whose key names the save shows that the folder is ours, and that its objects are of this save.
 */
import { PART_BYTES, type StoredObject, type Upload, type WritableStore } from '../objects/object-store.ts'
import type { ByteRange, Bytes } from '../transfer/bytes.ts'
import { ChangedError } from '../transfer/error.ts'
import { defaultRetryPolicy, type RetryPolicy, retrying } from '../transfer/retry.ts'
import { forEach, Slots } from '../transfer/slots.ts'
import { inspect } from './inspection.ts'
import { MARKER } from './marker.ts'
import {
  assertDeletable,
  type CheckpointStore,
  type Content,
  type Entry,
  OccupiedError,
  type StoredFile,
  UNFINISHED,
} from './store.ts'

export interface BucketRoot {
  readonly bucket: string
  /** Empty, or ends with a slash. */
  readonly prefix: string
}

export interface BucketOptions {
  readonly prefix: string
  readonly shown: string
  readonly retryPolicy?: RetryPolicy
}

const PARALLEL = 8
/** The number of parts in memory. */
const PARTS = 4
const ABORT_MS = 10_000

/** A file of a checkpoint that is written, and its key. */
interface Target {
  readonly key: string
  readonly path: string
  readonly size: number
}

export class BucketStore implements CheckpointStore {
  readonly shown: string
  readonly #store: WritableStore
  readonly #prefix: string
  readonly #retryPolicy: RetryPolicy
  readonly #parts = new Slots(PARTS)

  constructor(store: WritableStore, { prefix, shown, retryPolicy = defaultRetryPolicy }: BucketOptions) {
    this.shown = shown.replace(/\/$/, '')
    this.#store = store
    this.#prefix = prefix
    this.#retryPolicy = retryPolicy
  }

  async *list(signal: AbortSignal): AsyncIterable<Entry> {
    for await (const entry of this.#store.entries(this.#prefix, signal)) if (entry.name !== '') yield entry
  }

  async *files(folder: string, signal: AbortSignal): AsyncIterable<StoredFile> {
    for await (const { key, size, identity, changedAt = 0 } of this.#objects(folder, signal)) {
      const path = key.slice(this.#key(folder, '').length)
      if (path !== '' && !path.endsWith('/')) yield { path, size, identity, changedAt }
    }
  }

  /** Whatever the server answers, a key outside of the folder is not one of its objects. */
  async *#objects(folder: string, signal: AbortSignal): AsyncIterable<StoredObject> {
    const prefix = this.#key(folder, '')
    for await (const object of this.#store.list(prefix, signal)) if (object.key.startsWith(prefix)) yield object
  }

  read(folder: string, { path, identity }: StoredFile, range: ByteRange, signal: AbortSignal): Promise<Bytes> {
    return this.#store.read({ key: this.#key(folder, path), identity }, range, signal)
  }

  async write(folder: string, content: Content, signal: AbortSignal): Promise<void> {
    const { marker } = content
    const claim = this.#key(folder, `${UNFINISHED}${marker.digest.slice(0, 16)}`)
    if (!(await this.#isSame(folder, content, signal))) {
      const present = await this.#claimed(folder, claim, signal)
      const missing = [...marker.files].filter(([path, size]) => present.get(path) !== size)
      await forEach(missing, { count: PARTS, signal }, ([path, size], either) =>
        this.#writeFile({ key: this.#key(folder, path), path, size }, content, either),
      )
      await content.verify(signal)
      const written = await this.#claimed(folder, claim, signal)
      for (const [path, size] of marker.files) {
        if (written.get(path) !== size) throw new ChangedError(`${this.shown}/${folder}/${path} has another size`)
      }
      await this.#put(this.#key(folder, MARKER), Buffer.from(marker.text), signal)
    }
    await this.#remove(claim, signal)
  }

  /** Whether the folder already is this checkpoint. Throws if it has another marker. */
  async #isSame(folder: string, { marker }: Content, signal: AbortSignal): Promise<boolean> {
    const found = await this.#retry(signal, () => inspect(this, folder, signal))
    if (found.state === 'complete' && found.marker.digest === marker.digest) return true
    if (found.state === 'complete' || found.state === 'damaged') throw this.#occupied(folder)
    return false
  }

  /** Claims the folder for one save. Resolves to the sizes of its files. Throws if it has objects of anything else. */
  async #claimed(folder: string, claim: string, signal: AbortSignal): Promise<ReadonlyMap<string, number>> {
    const present = await this.#retry(signal, async () => {
      const sizes = new Map<string, number>()
      for await (const { path, size } of this.files(folder, signal)) sizes.set(path, size)
      return sizes
    })
    const claims = [...present.keys()].filter((path) => path.startsWith(UNFINISHED))
    if (claims.length === 1 && this.#key(folder, claims[0] ?? '') === claim && !present.has(MARKER)) return present
    if (present.size > 0) throw this.#occupied(folder)
    await this.#put(claim, new Uint8Array(), signal)
    return present
  }

  #occupied(folder: string): OccupiedError {
    return new OccupiedError(`${this.shown}/${folder} exists with other content: rename it`)
  }

  async #writeFile(target: Target, content: Content, signal: AbortSignal): Promise<void> {
    const { key, path, size } = target
    if (size > PART_BYTES) return this.#writeParts(target, content, signal)
    await this.#parts.run(async () => {
      await this.#put(key, await collect(content.read(path, { start: 0, end: size }, signal), size), signal)
    })
  }

  async #writeParts({ key, path, size }: Target, content: Content, signal: AbortSignal): Promise<void> {
    const upload = await this.#retry(signal, () => this.#store.upload(key, size, signal))
    const ranges = partsOf(size, upload.partBytes)
    try {
      await forEach([...ranges.entries()], { count: parallelOf(upload), signal }, ([index, range], either) =>
        this.#parts.run(async () => {
          const bytes = await collect(content.read(path, range, either), range.end - range.start)
          await this.#retry(either, () => upload.put(index, bytes, either))
        }),
      )
      await this.#retry(signal, () => upload.finish(signal))
    } catch (error) {
      await discard(upload)
      throw error
    }
  }

  /** The marker goes first, so that the checkpoint stops to be complete, and what shows that the folder is ours goes last. */
  async delete(folder: string, signal: AbortSignal): Promise<void> {
    assertDeletable(folder)
    const claim = this.#key(folder, `${UNFINISHED}deleted`)
    await this.#store.put(claim, new Uint8Array(), signal)
    await this.#store.remove(this.#key(folder, MARKER), signal)
    const claims = [claim]
    let batch: string[] = []
    for await (const { key } of this.#objects(folder, signal)) {
      if (key.startsWith(this.#key(folder, UNFINISHED))) claims.push(key)
      else batch.push(key)
      if (batch.length < BATCH) continue
      await this.#removeAll(batch, signal)
      batch = []
    }
    await this.#removeAll(batch, signal)
    await this.#removeAll(claims, signal)
  }

  async #removeAll(keys: readonly string[], signal: AbortSignal): Promise<void> {
    await forEach(keys, { count: PARALLEL, signal }, (key, either) => this.#remove(key, either))
  }

  #remove(key: string, signal: AbortSignal): Promise<void> {
    return this.#retry(signal, () => this.#store.remove(key, signal))
  }

  #put(key: string, bytes: Uint8Array, signal: AbortSignal): Promise<void> {
    return this.#retry(signal, () => this.#store.put(key, bytes, signal))
  }

  #retry<T>(signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
    return retrying(this.#retryPolicy, signal, ask)
  }

  #key(folder: string, path: string): string {
    return `${this.#prefix}${folder}/${path}`
  }
}

const BATCH = 1_000

async function collect(bytes: Bytes, size: number): Promise<Uint8Array> {
  const all = Buffer.allocUnsafe(size)
  let at = 0
  for await (const some of bytes) {
    all.set(some, at)
    at += some.length
  }
  if (at !== size) throw new ChangedError(`a file has ${at} instead of ${size} bytes`)
  return all
}

/** The parts of very large objects are larger, so fewer of them fit into memory. */
function parallelOf({ isParallel, partBytes }: Upload): number {
  return isParallel ? Math.max(1, Math.floor((PARTS * PART_BYTES) / partBytes)) : 1
}

function partsOf(size: number, partBytes: number): readonly Required<ByteRange>[] {
  const count = Math.ceil(size / partBytes)
  return Array.from({ length: count }, (_, index) => ({
    start: index * partBytes,
    end: Math.min((index + 1) * partBytes, size),
  }))
}

async function discard(upload: Upload): Promise<void> {
  await upload.abort(AbortSignal.timeout(ABORT_MS)).catch(() => {})
}
