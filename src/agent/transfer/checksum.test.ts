import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { type Checksum, checksumOfFile, hexOfBase64, parseExpected } from './checksum.ts'

/** Of `123456789`, the text for which every checksum's value is published. */
const KNOWN: readonly Checksum[] = [
  { algorithm: 'crc32', value: 'cbf43926' },
  { algorithm: 'crc32c', value: 'e3069283' },
  { algorithm: 'md5', value: '25f9e794323b453885f5181f1b624d0b' },
  { algorithm: 'sha256', value: '15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225' },
]

test('checksums of a file', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'checksum-'))
  t.after(() => rm(directory, { recursive: true }))
  const path = join(directory, 'file')
  const { signal } = new AbortController()
  await writeFile(path, '123456789')
  for (const { algorithm, value } of KNOWN) {
    assert.equal(await checksumOfFile(path, { algorithm, size: 9 }, signal), value, algorithm)
  }
  await writeFile(path, 'hello\n')
  const blob = await checksumOfFile(path, { algorithm: 'git-blob', size: 6 }, signal)
  assert.equal(blob, 'ce013625030ba8dba906f756967f9e9ca394464a', 'as `git hash-object` says')
})

test('the expected checksum is a SHA-256', () => {
  const hex = 'AB'.repeat(32)
  assert.deepEqual(parseExpected(`sha256:${hex}`), { algorithm: 'sha256', value: hex.toLowerCase() })
  for (const text of ['', hex, 'md5:00', `sha256:${hex}00`])
    assert.throws(() => parseExpected(text), /--checksum must be/)
  assert.equal(hexOfBase64('4waSgw=='), 'e3069283')
})
