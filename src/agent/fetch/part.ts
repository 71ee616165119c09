/**
 * An incomplete file: its bytes are in `KEY.part`, the completed ranges in `KEY.ranges`, one per line. The key depends on
 * the path and the identity of the content, so that different contents never mix, and two pods that fetch into the same
 * volume write the same bytes to the same positions.
 */
import { createHash } from 'node:crypto'
import { appendFile, type FileHandle, open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

import type { ByteRange } from '../transfer/bytes.ts'
import type { RemoteFile } from './source.ts'

/** The size of a range: at most this much is lost for each connection when a run is killed. */
export const RANGE_BYTES = 16 * 1_024 * 1_024

export class Part {
  readonly path: string
  readonly #ranges: string
  readonly #file: RemoteFile
  #handle: FileHandle | undefined

  constructor(state: string, file: RemoteFile) {
    const unique = file.identity ?? `${process.pid}.${performance.timeOrigin}`
    const key = createHash('sha256')
      .update(JSON.stringify([file.path, unique, file.size]))
      .digest('hex')
      .slice(0, 32)
    this.path = join(state, `${key}.part`)
    this.#ranges = join(state, `${key}.ranges`)
    this.#file = file
  }

  /** The ranges that are still missing. */
  async missing(rangeBytes: number): Promise<readonly ByteRange[]> {
    const { size, hasRanges } = this.#file
    if (size === undefined || !hasRanges) return [{ start: 0 }]
    const done = await this.#done()
    const count = Math.ceil(size / rangeBytes)
    const all = Array.from({ length: count }, (_, index) => rangeOf(index * rangeBytes, rangeBytes, size))
    return all.filter((range) => !done.has(textOf(range)))
  }

  /** The completed ranges. Without the part, the list of ranges is invalid and removed. */
  async #done(): Promise<ReadonlySet<string>> {
    const handle = await open(this.path, 'r').catch(() => undefined)
    if (handle === undefined) {
      await rm(this.#ranges, { force: true })
      return new Set()
    }
    await handle.close()
    return new Set((await readFile(this.#ranges, 'utf8').catch(() => '')).split('\n'))
  }

  async open(): Promise<void> {
    // Mode 'a' ignores positions and 'w' truncates, so the file is created first, then opened for update.
    await (await open(this.path, 'a')).close()
    this.#handle = await open(this.path, 'r+')
    if (this.#file.size !== undefined) await this.#handle.truncate(this.#file.size)
  }

  async write(bytes: Uint8Array, at: number): Promise<void> {
    for (let written = 0; written < bytes.length;) {
      const result = await this.#opened.write(bytes, written, bytes.length - written, at + written)
      written += result.bytesWritten
    }
  }

  /** Flushes the bytes before it records the range: a crash in between costs a range, but the record stays true. */
  async finish(range: ByteRange): Promise<void> {
    await this.#opened.datasync()
    await appendFile(this.#ranges, `${textOf(range)}\n`)
  }

  /** Ends content of unknown length. */
  async end(size: number): Promise<void> {
    await this.#opened.truncate(size)
    await this.#opened.datasync()
  }

  async close(): Promise<void> {
    await this.#handle?.close()
    this.#handle = undefined
  }

  async publish(target: string): Promise<void> {
    await rename(this.path, target)
    await rm(this.#ranges, { force: true })
  }

  async discard(): Promise<void> {
    await this.close()
    await rm(this.path, { force: true })
    await rm(this.#ranges, { force: true })
  }

  get #opened(): FileHandle {
    if (this.#handle === undefined) throw new Error(`${this.path} is not open`)
    return this.#handle
  }
}

function rangeOf(start: number, length: number, size: number): ByteRange {
  return { start, end: Math.min(start + length, size) }
}

function textOf({ start, end }: ByteRange): string {
  return `${start}-${end}`
}
