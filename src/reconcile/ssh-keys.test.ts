import assert from 'node:assert/strict'
import { createPrivateKey, createPublicKey } from 'node:crypto'
import { test } from 'node:test'
import { generateSshKeyPair } from './ssh-keys.ts'

/** The parts of a public key as OpenSSH writes it, each preceded by its length. */
function partsOf(blob: Buffer): Buffer[] {
  if (blob.length === 0) return []
  const end = 4 + blob.readUInt32BE(0)
  return [blob.subarray(4, end), ...partsOf(blob.subarray(end))]
}

test('generates a matching pair in the formats of OpenSSH', async () => {
  const { privateKey, publicKey } = await generateSshKeyPair()
  assert.match(privateKey, /^-----BEGIN EC PRIVATE KEY-----\n/)
  const [algorithm, blob = ''] = publicKey.split(' ')
  assert.equal(algorithm, 'ecdsa-sha2-nistp521')
  const [name, curve, point] = partsOf(Buffer.from(blob, 'base64'))
  assert.equal(name?.toString(), algorithm)
  assert.equal(curve?.toString(), 'nistp521')
  const { x = '', y = '' } = createPublicKey(createPrivateKey(privateKey)).export({ format: 'jwk' })
  const coordinates = Buffer.concat([Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')])
  assert.equal(point?.length, 1 + 2 * 66)
  assert.deepEqual(point?.subarray(1), coordinates)
})

test('generates another pair each time', async () => {
  const [one, other] = await Promise.all([generateSshKeyPair(), generateSshKeyPair()])
  assert.notEqual(one.publicKey, other.publicKey)
})
