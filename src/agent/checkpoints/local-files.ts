/** Files of a directory, without following links: each path is compared with the path that the kernel has opened. */
import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, opendir, readlink, realpath, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import type { ByteRange, Bytes } from '../transfer/bytes.ts'
import { ChangedError, codeOf, TransferError } from '../transfer/error.ts'
import { type StoredFile, UNFINISHED } from './store.ts'

const CHUNK_BYTES = 1_024 * 1_024
const MAX_DEPTH = 64

/** The beginning of the name of a file that is written now. */
export const PART = `${UNFINISHED}part-`

/** All regular files below a directory. */
export async function* filesBelow(root: string, below = '', depth = 0): AsyncIterable<StoredFile> {
  for await (const entry of await opendir(join(root, below))) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`
    if (entry.isDirectory() && depth < MAX_DEPTH) yield* filesBelow(root, path, depth + 1)
    if (!entry.isFile()) continue
    const stats = await lstat(join(root, path), { bigint: true })
    yield { path, size: Number(stats.size), identity: identityOf(stats), changedAt: Number(stats.mtimeMs) }
  }
}

function identityOf({ ino, mtimeNs }: { readonly ino: bigint; readonly mtimeNs: bigint }): string {
  return `${ino}-${mtimeNs}`
}

export async function* readFile(path: string, file: StoredFile, range: ByteRange): Bytes {
  const end = Math.min(range.end ?? file.size, file.size)
  const handle = await openFile(path)
  try {
    for (let at = range.start; at < end;) {
      const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, end - at))
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, at)
      if (bytesRead === 0) break
      at += bytesRead
      yield buffer.subarray(0, bytesRead)
    }
    const stats = await handle.stat({ bigint: true })
    if (Number(stats.size) !== file.size || identityOf(stats) !== file.identity) {
      throw new ChangedError(`${path} has changed while it was read`)
    }
  } finally {
    await handle.close()
  }
}

/** Opens a regular file. Throws if any part of its path is a link. */
async function openFile(path: string): Promise<FileHandle> {
  // Without blocking: a pipe would wait for its writer.
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    if (!(await handle.stat()).isFile()) throw new ChangedError(`${path} is not a regular file`)
    assertNoLink(path, await readlink(`/proc/self/fd/${handle.fd}`))
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** Throws if the directory is reached through a link. */
export async function assertReal(directory: string): Promise<void> {
  assertNoLink(directory, await realpath(directory))
}

function assertNoLink(path: string, real: string): void {
  if (path !== real) throw new TransferError('Invalid', `${path} leads to ${real}: remove that link`)
}

/** Writes a file below the directory. It gets its name when its bytes are on the disk. */
export async function writeFile(directory: string, path: string, bytes: Bytes | Iterable<Uint8Array>): Promise<void> {
  const target = join(directory, path)
  await mkdir(dirname(target), { recursive: true })
  await assertReal(dirname(target))
  const part = join(directory, `${PART}${randomUUID()}`)
  const handle = await open(part, 'wx')
  try {
    for await (const some of bytes) await handle.writeFile(some)
    await handle.datasync()
  } catch (error) {
    await rm(part, { force: true })
    throw error
  } finally {
    await handle.close()
  }
  await rename(part, target)
}

/** Writes the entries of a directory to the disk. */
export async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    await handle.sync()
  } catch (error) {
    // Some network file systems have no such call.
    if (codeOf(error) !== 'EINVAL' && codeOf(error) !== 'ENOTSUP') throw error
  } finally {
    await handle.close()
  }
}
