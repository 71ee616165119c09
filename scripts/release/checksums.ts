import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

export const CHECKSUMS = 'SHA256SUMS'

/** Writes the checksums of all files of a directory, for `sha256sum --check SHA256SUMS`. */
export async function writeChecksums(directory: string): Promise<string> {
  const names = (await readdir(directory)).filter((name) => name !== CHECKSUMS).toSorted()
  const lines: string[] = []
  for (const name of names) lines.push(`${await sha256(join(directory, name))}  ${name}\n`)
  await writeFile(join(directory, CHECKSUMS), lines.join(''))
  return lines.join('')
}

export async function sha256(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}
