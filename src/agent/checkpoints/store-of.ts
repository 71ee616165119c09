/** The store of a root: an absolute directory, or the URI of a bucket. Loads only the libraries of that store. */
import { isAbsolute, normalize } from 'node:path'

import { isCheckpointName } from '../../api/checkpoint-result.ts'
import { TransferError } from '../transfer/error.ts'
import { isRelativePath } from '../transfer/relative-path.ts'
import { shownUri } from '../transfer/uri.ts'
import type { BucketRoot } from './bucket.ts'
import { DirectoryStore } from './directory.ts'
import type { Origin } from './prepare.ts'
import type { CheckpointStore } from './store.ts'

const buckets = {
  s3: async (root: BucketRoot, env: NodeJS.ProcessEnv) => (await import('./s3.ts')).s3Checkpoints(root, env),
  gs: async (root: BucketRoot, env: NodeJS.ProcessEnv) => (await import('./gcs.ts')).gcsCheckpoints(root, env),
}

export async function storeOf(root: string, env: NodeJS.ProcessEnv): Promise<CheckpointStore> {
  if (isAbsolute(root) && normalize(root) === root && !root.includes('\0')) {
    return new DirectoryStore(withoutSlash(root))
  }
  const [, scheme, bucket = '', key = ''] = /^(s3|gs):\/\/([^/?#@:]+)(?:\/(.*))?$/s.exec(root) ?? []
  const path = withoutSlash(key)
  if (scheme !== undefined && (path === '' || isRelativePath(path))) {
    return buckets[scheme as keyof typeof buckets]({ bucket, prefix: path === '' ? '' : `${path}/` }, env)
  }
  throw new TransferError(
    'Invalid',
    `${shownUri(root)}: use an absolute directory, s3://bucket/prefix or gs://bucket/prefix`,
  )
}

export async function originOf(root: string, env: NodeJS.ProcessEnv): Promise<Origin> {
  const store = await storeOf(root, env)
  const slash = withoutSlash(root).lastIndexOf('/')
  const name = withoutSlash(root).slice(slash + 1)
  const parent = root.slice(0, slash)
  const isBelow = isCheckpointName(name) && parent !== '' && !parent.endsWith('/')
  return {
    shown: shownUri(root),
    root: store,
    ...(isBelow && { one: { store: await storeOf(parent, env), name } }),
  }
}

function withoutSlash(root: string): string {
  return root !== '/' && root.endsWith('/') ? root.slice(0, -1) : root
}
