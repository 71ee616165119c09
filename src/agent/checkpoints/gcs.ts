/** Checkpoints in Google Cloud Storage. */
import { gcsBucket } from '../objects/gcs.ts'
import { WritableGcsStore } from '../objects/gcs-writes.ts'
import { httpSender } from '../objects/http-client.ts'
import { type BucketRoot, BucketStore } from './bucket.ts'

export function gcsCheckpoints({ bucket, prefix }: BucketRoot, env: NodeJS.ProcessEnv): BucketStore {
  const shown = `gs://${bucket}/${prefix}`
  const objects = new WritableGcsStore(gcsBucket(bucket, shown, { env, access: 'write' }), httpSender(env))
  return new BucketStore(objects, { prefix, shown })
}
