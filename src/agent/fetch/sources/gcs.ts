/** Models in Google Cloud Storage. */
import { gcsBucket, GcsStore } from '../../objects/gcs.ts'
import type { ObjectUri } from '../../transfer/uri.ts'
import type { Source } from '../source.ts'
import { objectSource } from './object-source.ts'

export function gcsSource({ bucket, key }: ObjectUri, env: NodeJS.ProcessEnv): Source {
  const shown = `gs://${bucket}/${key}`
  return objectSource(new GcsStore(gcsBucket(bucket, shown, { env, access: 'read' })), key, shown)
}
