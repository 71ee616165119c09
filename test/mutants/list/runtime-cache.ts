import type { Mutant } from '../mutant.ts'
import { contract, properties } from '../oracles.ts'

const cache = contract('src/runtime/cache.test.ts')
const cacheProperties = properties('src/runtime/cache.properties.test.ts')
const intent = contract('src/runtime/intent.test.ts')
const status = contract('src/runtime/status.test.ts')

export const cacheMutants: readonly Mutant[] = [
  {
    id: 'runtime/store-by-name',
    file: 'src/runtime/store.ts',
    what: 'Objects are distinguished by name instead of uid.',
    from: "return object.metadata.uid ?? ''",
    to: 'return keyString(keyOf(object))',
    caughtBy: cache,
  },
  {
    id: 'runtime/store-goes-back',
    file: 'src/runtime/store.ts',
    what: 'An older version of an object replaces a newer one.',
    from: 'if (previous) return isNewer(object, previous) ? [this.#update(object, previous)] : []',
    to: 'if (previous) return [this.#update(object, previous)]',
    caughtBy: cache,
  },
  {
    id: 'runtime/store-late-delete',
    file: 'src/runtime/store.ts',
    what: 'A late deletion of an object evicts the new one of the same name.',
    from: 'const known = this.#objects.get(uidOf(object))\n    return known',
    to: 'const known = this.byKey(keyOf(object))\n    return known',
    caughtBy: cache,
  },
  {
    id: 'runtime/store-replace-keeps',
    file: 'src/runtime/store.ts',
    what: 'A relist does not remove what is no longer there.',
    from: 'const gone = this.all().filter((known) => !listed.has(uidOf(known)))',
    to: 'const gone = this.all().filter((known) => !listed.has(uidOf(known)) && false)',
    caughtBy: cache,
  },
  {
    id: 'runtime/index-keeps-old-value',
    file: 'src/runtime/store.ts',
    what: 'An object stays in the index under a value that it no longer has.',
    from: 'before.filter((value) => !after.includes(value))',
    to: 'before.filter((value) => after.includes(value) && false)',
    caughtBy: cache,
  },
  {
    id: 'runtime/cache-old-event',
    file: 'src/runtime/cache.ts',
    what: 'An echo of the past brings a deleted object back.',
    from: 'this.#isNewer(update.object) ? this.#store.put(update.object)',
    to: 'this.#store.put(update.object) ? this.#store.put(update.object)',
    caughtBy: cache,
  },
  {
    id: 'runtime/cache-version-goes-back',
    file: 'src/runtime/cache.ts',
    what: 'The version of the cache goes back with an older update.',
    from: 'if (isOlder(this.#resourceVersion, resourceVersion)) this.#resourceVersion',
    to: 'this.#resourceVersion',
    caughtBy: cacheProperties,
  },
  {
    id: 'runtime/cache-bookmark',
    file: 'src/runtime/cache.ts',
    what: 'A bookmark does not advance the cache, so a write whose object has gone is waited for for ever.',
    from: "this.#advance('object' in update ? versionOf(update.object) : update.resourceVersion)",
    to: "if ('object' in update) this.#advance(versionOf(update.object))",
    caughtBy: cache,
  },
  {
    id: 'runtime/cache-seen-too-soon',
    file: 'src/runtime/cache.ts',
    what: 'A write counts as observed before the cache shows it.',
    from: 'return reached(this.#resourceVersion) || (known !== undefined && reached(versionOf(known)))',
    to: 'return reached(this.#resourceVersion) || known !== undefined',
    caughtBy: cache,
  },
  {
    id: 'runtime/cache-delete-unseen',
    file: 'src/runtime/cache.ts',
    what: 'A deletion counts as observed while the object is still there.',
    from: 'if (write.deleted) return known === undefined || known.metadata.deletionTimestamp !== undefined',
    to: 'if (write.deleted) return true',
    caughtBy: cache,
  },
  {
    id: 'runtime/cache-rewind',
    file: 'src/runtime/cache.ts',
    what: 'After a restored backup the cache keeps what the backup does not have.',
    from: 'return [...this.#store.clear(), ...this.#store.replace(items)]',
    to: 'return this.#store.replace(items)',
    caughtBy: cache,
  },
  {
    id: 'runtime/cache-listener-stops-others',
    file: 'src/runtime/cache.ts',
    what: 'A listener that throws keeps the other listeners from hearing of the change.',
    from: "'a cache listener failed')",
    to: "'a cache listener failed')\n        throw error",
    caughtBy: cache,
  },
  {
    id: 'runtime/caches-selector',
    file: 'src/runtime/caches.ts',
    what: 'An object is looked for in a cache that does not select its labels.',
    from: 'labelSelector === undefined || selects(labelSelector, labels)',
    to: 'labelSelector === undefined || labels !== null',
    caughtBy: contract('src/runtime/caches.test.ts'),
  },
]

export const intentMutants: readonly Mutant[] = [
  {
    id: 'runtime/drift-quantities',
    file: 'src/runtime/intent.ts',
    what: 'A quantity that the server writes in another way is written again for ever.',
    from: 'compareQuantity(parseQuantity(one), parseQuantity(other)) === 0',
    to: 'one === other',
    caughtBy: intent,
  },
  {
    id: 'runtime/drift-routes',
    file: 'src/runtime/foreign-fields.ts',
    what: 'A route that a user added is not noticed.',
    from: 'Object.keys(fields).length === 0 ? [] : [{',
    to: 'Object.keys(fields).length >= 0 ? [] : [{',
    caughtBy: contract('src/runtime/foreign-fields.test.ts'),
  },
  {
    id: 'runtime/status-drops-nothing',
    file: 'src/runtime/status.ts',
    what: 'A field that the status no longer has stays stored.',
    from: 'patch[key] = null',
    to: 'patch[key] = from[key]',
    caughtBy: status,
  },
  {
    id: 'runtime/status-transition-time',
    file: 'src/runtime/status.ts',
    what: 'The transition time of a condition changes although its status does not.',
    from: 'known?.status === condition.status ? known.lastTransitionTime : undefined',
    to: 'known?.status === condition.status && known.message === condition.message ? known.lastTransitionTime : undefined',
    caughtBy: status,
  },
]
