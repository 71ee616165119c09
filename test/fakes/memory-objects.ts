/** An object store in memory, whose calls can fail. */
import {
  PART_BYTES,
  type ObjectEntry,
  type StoredObject,
  type Upload,
  type WritableStore,
} from '../../src/agent/objects/object-store.ts'
import type { ByteRange, Bytes } from '../../src/agent/transfer/bytes.ts'
import { ChangedError } from '../../src/agent/transfer/error.ts'

interface Held {
  readonly bytes: Uint8Array
  readonly version: number
  readonly changedAt: number
}

export class MemoryObjects implements WritableStore {
  readonly objects = new Map<string, Held>()
  /** Called before each request; it may throw. */
  fault: (call: string, key: string) => void = () => {}
  #version = 0

  set(key: string, bytes: Uint8Array, changedAt = Date.now()): void {
    this.objects.set(key, { bytes: Buffer.from(bytes), version: ++this.#version, changedAt })
  }

  async head(key: string): Promise<StoredObject | undefined> {
    const held = this.objects.get(key)
    return held === undefined ? undefined : stored(key, held)
  }

  async *list(prefix: string): AsyncIterable<StoredObject> {
    this.fault('list', prefix)
    for (const [key, held] of new Map(this.objects)) if (key.startsWith(prefix)) yield stored(key, held)
  }

  async *entries(prefix: string): AsyncIterable<ObjectEntry> {
    this.fault('entries', prefix)
    const names = [...this.objects.keys()]
      .filter((key) => key.startsWith(prefix))
      .map((key) => key.slice(prefix.length))
    const folders = new Set(names.filter((name) => name.includes('/')).map((name) => name.slice(0, name.indexOf('/'))))
    for (const name of folders) yield { name, isFolder: true }
    for (const name of names) if (!name.includes('/')) yield { name, isFolder: false }
  }

  async read({ key, identity }: { key: string; identity: string }, { start, end }: ByteRange): Promise<Bytes> {
    this.fault('read', key)
    const held = this.objects.get(key)
    if (held === undefined || String(held.version) !== identity) throw new ChangedError(`${key} has changed`)
    return chunks(held.bytes.subarray(start, end))
  }

  checksum(): Promise<undefined> {
    return Promise.resolve(undefined)
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    this.fault('put', key)
    this.set(key, bytes)
  }

  async remove(key: string): Promise<void> {
    this.fault('remove', key)
    this.objects.delete(key)
  }

  async upload(key: string, size: number): Promise<Upload> {
    this.fault('upload', key)
    const all = Buffer.alloc(size)
    return {
      partBytes: PART_BYTES,
      isParallel: true,
      put: async (index, bytes) => {
        this.fault('part', key)
        all.set(bytes, index * PART_BYTES)
      },
      finish: async () => {
        this.fault('finish', key)
        this.set(key, all)
      },
      abort: () => Promise.resolve(),
    }
  }
}

function stored(key: string, { bytes, version, changedAt }: Held): StoredObject {
  return { key, size: bytes.length, identity: String(version), changedAt }
}

async function* chunks(bytes: Uint8Array): Bytes {
  for (let at = 0; at < bytes.length; at += 100_000) yield bytes.subarray(at, at + 100_000)
}
