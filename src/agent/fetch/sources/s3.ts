/** Models in S3 and compatible stores. */
import { s3Client, S3Store } from '../../objects/s3.ts'
import type { ObjectUri } from '../../transfer/uri.ts'
import type { Source } from '../source.ts'
import { objectSource } from './object-source.ts'

export function s3Source({ bucket, key }: ObjectUri, env: NodeJS.ProcessEnv): Source {
  const shown = `s3://${bucket}/${key}`
  return objectSource(new S3Store(s3Client(env), { bucket, shown }), key, shown)
}
