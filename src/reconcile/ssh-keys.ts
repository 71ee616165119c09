/** An SSH key pair in the formats of OpenSSH. */
import { generateKeyPair, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'

const CURVE = 'nistp521'
const ALGORITHM = `ecdsa-sha2-${CURVE}`
/** Length of a coordinate of the curve; shorter values are padded. */
const COORDINATE_BYTES = 66
const UNCOMPRESSED = Buffer.of(4)

export interface SshKeyPair {
  readonly privateKey: string
  readonly publicKey: string
}

export async function generateSshKeyPair(): Promise<SshKeyPair> {
  const { privateKey, publicKey } = await promisify(generateKeyPair)('ec', { namedCurve: 'P-521' })
  return {
    privateKey: privateKey.export({ type: 'sec1', format: 'pem' }).toString(),
    publicKey: `${ALGORITHM} ${blobOf(publicKey).toString('base64')}`,
  }
}

/** RFC 5656: the algorithm, the curve and the point, each preceded by its length. */
function blobOf(publicKey: KeyObject): Buffer {
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const point = Buffer.concat([UNCOMPRESSED, coordinate(x), coordinate(y)])
  return Buffer.concat([Buffer.from(ALGORITHM), Buffer.from(CURVE), point].map(withLength))
}

function coordinate(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64url')
  return Buffer.concat([Buffer.alloc(COORDINATE_BYTES - bytes.length), bytes])
}

function withLength(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}
