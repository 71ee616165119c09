/** Checksums of files, as the servers that we fetch from tell them. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { crc32 } from 'node:zlib'

import { UsageError } from '../../command/flags.ts'
import { crc32c } from './crc32c.ts'

export interface Checksum {
  /** `git-blob`: SHA-1 of the content behind Git's header, by which Git names a file. */
  readonly algorithm: 'sha256' | 'md5' | 'crc32' | 'crc32c' | 'git-blob'
  /** In lower-case hexadecimal. */
  readonly value: string
}

/** Reads ahead little: several files may be checked at once. */
const BUFFER_BYTES = 256 * 1_024

export function parseExpected(text: string): Checksum {
  const value = /^sha256:([0-9a-f]{64})$/i.exec(text)?.[1]
  if (value === undefined) {
    throw new UsageError(`--checksum is 'sha256:' and 64 hexadecimal digits, not '${text}'`)
  }
  return { algorithm: 'sha256', value: value.toLowerCase() }
}

export function hexOfBase64(text: string): string {
  return Buffer.from(text, 'base64').toString('hex')
}

interface Digest {
  update(bytes: Uint8Array): void
  hex(): string
}

export async function checksumOfFile(
  path: string,
  { algorithm, size }: { readonly algorithm: Checksum['algorithm']; readonly size: number },
  signal: AbortSignal,
): Promise<string> {
  const digest = digests[algorithm](size)
  for await (const bytes of createReadStream(path, { highWaterMark: BUFFER_BYTES, signal })) {
    digest.update(bytes as Uint8Array)
  }
  return digest.hex()
}

const digests: Readonly<Record<Checksum['algorithm'], (size: number) => Digest>> = {
  sha256: () => hashed('sha256'),
  md5: () => hashed('md5'),
  'git-blob': (size) => hashed('sha1', `blob ${size}\0`),
  crc32: () => cyclic(crc32),
  crc32c: () => cyclic(crc32c),
}

function hashed(name: string, prefix = ''): Digest {
  const hash = createHash(name).update(prefix)
  return { update: (bytes) => void hash.update(bytes), hex: () => hash.digest('hex') }
}

function cyclic(step: (bytes: Uint8Array, before: number) => number): Digest {
  let value = 0
  return {
    update: (bytes) => void (value = step(bytes, value)),
    hex: () => value.toString(16).padStart(8, '0'),
  }
}
