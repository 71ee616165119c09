/** Checksums of files, in the algorithms that servers use. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { crc32 } from 'node:zlib'

import { UsageError } from '../../command/flags.ts'
import { crc32c } from './crc32c.ts'

export interface Checksum {
  /** `git-blob`: SHA-1 of Git's header and the content, the name of a file in Git. */
  readonly algorithm: 'sha256' | 'md5' | 'crc32' | 'crc32c' | 'git-blob'
  /** In lower-case hexadecimal. */
  readonly value: string
}

/** Small, because several files may be checked at the same time. */
const BUFFER_BYTES = 256 * 1_024

export function parseExpected(text: string): Checksum {
  const value = /^sha256:([0-9a-f]{64})$/i.exec(text)?.[1]
  if (value === undefined) {
    throw new UsageError(`--checksum must be 'sha256:' and 64 hexadecimal digits, not '${text}'`)
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
  sha256: () => hashDigest('sha256'),
  md5: () => hashDigest('md5'),
  'git-blob': (size) => hashDigest('sha1', `blob ${size}\0`),
  crc32: () => crcDigest(crc32),
  crc32c: () => crcDigest(crc32c),
}

function hashDigest(name: string, prefix = ''): Digest {
  const hash = createHash(name).update(prefix)
  return { update: (bytes) => void hash.update(bytes), hex: () => hash.digest('hex') }
}

function crcDigest(step: (bytes: Uint8Array, before: number) => number): Digest {
  let value = 0
  return {
    update: (bytes) => void (value = step(bytes, value)),
    hex: () => value.toString(16).padStart(8, '0'),
  }
}
