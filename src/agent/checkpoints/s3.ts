/** Checkpoints in S3 and compatible stores. */
import { s3Client } from '../objects/s3.ts'
import { WritableS3Store } from '../objects/s3-writes.ts'
import { type BucketRoot, BucketStore } from './bucket.ts'

export function s3Checkpoints({ bucket, prefix }: BucketRoot, env: NodeJS.ProcessEnv): BucketStore {
  const shown = `s3://${bucket}/${prefix}`
  return new BucketStore(new WritableS3Store(s3Client(env), { bucket, shown }), { prefix, shown })
}
