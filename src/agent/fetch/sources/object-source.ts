/** A model in an object store: a key names one object, or is the prefix of several. */
import type { ObjectStore, StoredObject } from '../../objects/object-store.ts'
import { TransferError } from '../../transfer/error.ts'
import { relativePath } from '../../transfer/relative-path.ts'
import type { RemoteFile, Source } from '../source.ts'

/** The model at a key: the object with this key, else all objects below it. */
export function objectSource(store: ObjectStore, key: string, shown: string): Source {
  return {
    shown,
    list: async (signal) => {
      const one = key === '' || key.endsWith('/') ? undefined : await store.head(key, signal)
      if (one !== undefined) return [fileOf(one, key.slice(key.lastIndexOf('/') + 1))]
      const files = await listBelow(store, key === '' || key.endsWith('/') ? key : `${key}/`, signal)
      if (files.length > 0) return files
      throw new TransferError(
        'ArtifactNotFound',
        `${shown}: there is neither an object with this key nor one below it: correct the path, or upload the model`,
      )
    },
    read: (file, range, signal) => store.read(objectOf(file), range, signal),
    checksum: (file, signal) => store.checksum(objectOf(file), signal),
  }
}

/** Ignores objects whose keys end in a slash: they mark empty folders. */
async function listBelow(store: ObjectStore, prefix: string, signal: AbortSignal): Promise<readonly RemoteFile[]> {
  const files: RemoteFile[] = []
  for await (const object of store.list(prefix, signal)) {
    if (!object.key.endsWith('/')) files.push(fileOf(object, object.key.slice(prefix.length)))
  }
  return files
}

function fileOf({ key, size, identity }: StoredObject, path: string): RemoteFile {
  return { key, path: relativePath(path), size, identity, hasRanges: true }
}

function objectOf({ key, identity = '' }: RemoteFile) {
  return { key, identity }
}
