/** Checkpoints in a directory. A checkpoint is written under a hidden name and gets its own by one rename. */
import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { access, lstat, mkdir, opendir, readdir, realpath, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import type { ByteRange, Bytes } from '../transfer/bytes.ts'
import { ChangedError, codeOf, TransferError } from '../transfer/error.ts'
import { freeBytes } from '../transfer/free-space.ts'
import { sizeText } from '../transfer/size.ts'
import { forEach } from '../transfer/slots.ts'
import { inspect } from './inspection.ts'
import { assertReal, filesBelow, PART, readFile, syncDirectory, writeFile } from './local-files.ts'
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

const PARALLEL = 4

export class DirectoryStore implements CheckpointStore {
  readonly shown: string

  constructor(root: string) {
    this.shown = root
  }

  async *list(): AsyncIterable<Entry> {
    try {
      for await (const entry of await opendir(this.shown)) yield { name: entry.name, isFolder: entry.isDirectory() }
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw this.#error(error, '')
    }
  }

  async *files(folder: string): AsyncIterable<StoredFile> {
    try {
      const path = join(await realpath(this.shown), folder)
      if ((await realpath(path)) === path) yield* filesBelow(path)
    } catch (error) {
      // It was deleted at this moment.
      if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'ENOTDIR') throw this.#error(error, folder)
    }
  }

  async read(folder: string, file: StoredFile, range: ByteRange): Promise<Bytes> {
    const path = join(await realpath(this.shown), folder, file.path)
    return this.#read(folder, readFile(path, file, range))
  }

  async *#read(folder: string, bytes: Bytes): Bytes {
    try {
      yield* bytes
    } catch (error) {
      if (codeOf(error) === 'ENOENT') throw new ChangedError(`${this.shown}/${folder} was deleted while it was read`)
      throw this.#error(error, folder)
    }
  }

  async write(folder: string, content: Content, signal: AbortSignal): Promise<void> {
    const { marker } = content
    try {
      await mkdir(this.shown, { recursive: true })
      const root = await realpath(this.shown)
      const unfinished = join(root, `${UNFINISHED}${folder}-${marker.digest.slice(0, 16)}`)
      if (await this.#has(folder, content, signal)) return await remove(unfinished)
      await this.#fill(unfinished, content, signal)
      await content.verify(signal)
      await writeFile(unfinished, MARKER, [Buffer.from(marker.text)])
      await syncDirectory(unfinished)
      await rename(unfinished, join(root, folder)).catch(async (error: unknown) => {
        // Another run was faster.
        if (!(await this.#has(folder, content, signal))) throw error
        await remove(unfinished)
      })
      await syncDirectory(root)
    } catch (error) {
      throw this.#error(error, folder)
    }
  }

  /** Whether the folder already is this checkpoint. Throws if it is anything else than absent or empty. */
  async #has(folder: string, { marker }: Content, signal: AbortSignal): Promise<boolean> {
    const found = await inspect(this, folder, signal)
    if (found.state === 'complete' && found.marker.digest === marker.digest) return true
    const names = await readdir(join(this.shown, folder)).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return []
      throw codeOf(error) === 'ENOTDIR' ? this.#occupied(folder) : error
    })
    if (names.length > 0) throw this.#occupied(folder)
    return false
  }

  #occupied(folder: string): OccupiedError {
    return new OccupiedError(`${this.shown}/${folder} exists with other content: rename it`)
  }

  /** Writes the files that an earlier run has not written. */
  async #fill(unfinished: string, content: Content, signal: AbortSignal): Promise<void> {
    const { marker } = content
    await mkdir(unfinished, { recursive: true })
    await assertReal(unfinished)
    const present = new Map<string, number>()
    for await (const { path, size } of filesBelow(unfinished)) {
      if (path.startsWith(PART)) await rm(join(unfinished, path), { force: true })
      else present.set(path, size)
    }
    const missing = [...marker.files].filter(([path, size]) => present.get(path) !== size)
    await this.#assertSpace(missing)
    try {
      await forEach(missing, { count: PARALLEL, signal }, async ([path, size], either) => {
        await writeFile(unfinished, path, content.read(path, { start: 0, end: size }, either))
      })
    } catch (error) {
      // A repetition would not help, and the training needs the space.
      if (isFull(error)) await remove(unfinished)
      throw error
    }
    const parents = new Set([...marker.files.keys()].map((path) => join(unfinished, dirname(path))))
    for (const parent of parents) await syncDirectory(parent)
  }

  async #assertSpace(missing: readonly (readonly [path: string, size: number])[]): Promise<void> {
    let needed = 0
    for (const [, size] of missing) needed += size
    const free = await freeBytes(this.shown)
    if (needed <= free) return
    throw new TransferError(
      'NoSpace',
      `the checkpoint needs ${sizeText(needed)}, but the volume of ${this.shown} has ${sizeText(free)} free: enlarge the volume`,
    )
  }

  async delete(folder: string): Promise<void> {
    assertDeletable(folder)
    try {
      const root = await realpath(this.shown)
      const path = join(root, folder)
      if (!(await lstat(path)).isDirectory()) return
      // Otherwise a rename would hide what cannot be deleted.
      await access(path, constants.W_OK | constants.X_OK)
      if (folder.startsWith('.')) return await remove(path)
      const deleted = join(root, `${UNFINISHED}deleted-${randomUUID()}`)
      await rename(path, deleted)
      await remove(deleted)
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw this.#error(error, folder)
    }
  }

  #error(error: unknown, folder: string): unknown {
    const code = codeOf(error)
    if (isFull(error)) {
      const fix = 'enlarge the volume, or keep fewer checkpoints'
      return new TransferError('NoSpace', `the volume of ${this.shown} is full: ${fix}`, { cause: error })
    }
    if (code !== 'EACCES' && code !== 'EPERM' && code !== 'EROFS') return error
    const fix = 'let the user of this container read and write it, for example by securityContext.fsGroup'
    return new TransferError('AccessDenied', `${join(this.shown, folder)} is not accessible (${code}): ${fix}`, {
      cause: error,
    })
  }
}

async function remove(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true })
}

function isFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(codeOf(error) ?? '')
}
