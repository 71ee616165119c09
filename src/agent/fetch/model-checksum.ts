/**
 * The checksum of a model. Of one file: its SHA-256. Of several: the SHA-256 of the output of `sha256sum`, in the order of
 * their paths at the source. To compute it:
 *
 *     find . -type f -printf '%P\n' | LC_ALL=C sort | xargs -d '\n' sha256sum | sha256sum
 */
import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'

import { checksumOfFile } from '../transfer/checksum.ts'
import type { Placed } from './layout.ts'

export async function checksumOfModel(
  directory: string,
  files: readonly Placed[],
  signal: AbortSignal,
): Promise<string> {
  const sums: string[] = []
  const byPath = files.toSorted((a, b) => Buffer.compare(Buffer.from(a.file.path), Buffer.from(b.file.path)))
  for (const { path } of byPath) {
    const target = join(directory, path)
    const { size } = await stat(target)
    sums.push(await checksumOfFile(target, { algorithm: 'sha256', size }, signal))
  }
  if (sums.length === 1) return sums[0] ?? ''
  const lines = byPath.map(({ file }, index) => `${sums[index]}  ${file.path}\n`)
  return createHash('sha256').update(lines.join('')).digest('hex')
}
