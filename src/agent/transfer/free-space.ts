/** Free space of volumes. */
import { statfs } from 'node:fs/promises'

import { codeOf } from './error.ts'

/** Infinity if the file system does not tell. */
export async function freeBytes(directory: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(directory)
    return bavail * bsize
  } catch (error) {
    if (codeOf(error) === 'ENOSYS') return Infinity
    throw error
  }
}
