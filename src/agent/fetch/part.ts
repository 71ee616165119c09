/**
 * A file that is still on its way: its bytes in `KEY.part`, the ranges of it that are safely there in `KEY.ranges`, one on
 * a line. The key is made of the path and of the content's identity, so that what is on disk is never mixed with other
 * content, and two pods that fetch into the same volume write the same bytes to the same places.
 */
import { createHash } from 'node:crypto'
import { appendFile, type FileHandle, open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

import type { ByteRange, RemoteFile } from './source.ts'

/** Lost at most, for each connection, when a run dies. */
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

  /** The ranges that have to be read yet. */
  async missing(rangeBytes: number): Promise<readonly ByteRange[]> {
    const { size, hasRanges } = this.#file
    if (size === undefined || !hasRanges) return [{ start: 0 }]
    const done = await this.#done()
    const count = Math.ceil(size / rangeBytes)
    const all = Array.from({ length: count }, (_, index) => rangeOf(index * rangeBytes, rangeBytes, size))
    return all.filter((range) => !done.has(textOf(range)))
  }

  /** A list of ranges without the bytes means nothing: so both or none. */
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
    // Appending and plain writing both place bytes wrongly; so: created if it is not there, then opened for update.
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

  /** On disk first, then said to be: a machine that dies in between costs a range, not the truth. */
  async finish(range: ByteRange): Promise<void> {
    await this.#opened.datasync()
    await appendFile(this.#ranges, `${textOf(range)}\n`)
  }

  /** For content of which nobody knows the length: it ends here. */
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
