/**
 * Merges a part of a PodSpec into a PodSpec, as a strategic merge patch of Kubernetes does, by the merge keys of its types:
 *
 * - objects and maps: field by field; `null` removes a field
 * - lists with a merge key: item by item; new items follow those that exist
 * - fields of which only one may be set, such as the sources of a volume: the one of the part replaces the other
 * - tolerations and affinity terms: appended. Kubernetes would replace them, and with them those of the operator
 * - other lists and values: replaced
 *
 * Merging the same part again changes nothing.
 */
import { canonicalJson, isJsonObject, type Json, type JsonObject } from '../../api/json.ts'

/** `[]` stands for an item of a list. */
type Path = string

const CONTAINERS = ['containers', 'initContainers', 'ephemeralContainers'] as const

const ofContainers = <T>(table: Readonly<Record<Path, T>>): Record<Path, T> =>
  Object.fromEntries(
    CONTAINERS.flatMap((list) => Object.entries(table).map(([path, value]) => [`${list}[].${path}`, value] as const)),
  )

/** The merge keys of lists. A missing `protocol` is TCP. */
export const mergeKeys: Readonly<Record<Path, readonly string[]>> = {
  ...Object.fromEntries(CONTAINERS.map((list) => [list, ['name']])),
  ...ofContainers({
    env: ['name'],
    ports: ['containerPort', 'protocol'],
    volumeDevices: ['devicePath'],
    volumeMounts: ['mountPath'],
    'resources.claims': ['name'],
  }),
  hostAliases: ['ip'],
  imagePullSecrets: ['name'],
  resourceClaims: ['name'],
  schedulingGates: ['name'],
  topologySpreadConstraints: ['topologyKey', 'whenUnsatisfiable'],
  volumes: ['name'],
}

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution'
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution'

/** Lists whose items all apply, so that more items never contradict those that exist. */
export const appended: ReadonlySet<Path> = new Set([
  'tolerations',
  `affinity.nodeAffinity.${PREFERRED}`,
  ...['podAffinity', 'podAntiAffinity'].flatMap((kind) =>
    [REQUIRED, PREFERRED].map((list) => `affinity.${kind}.${list}`),
  ),
])

const HANDLERS = ['exec', 'grpc', 'httpGet', 'sleep', 'tcpSocket'] as const

/** Fields of which only one may be set; an empty list means all but `name`. */
const unions: Readonly<Record<Path, readonly string[]>> = {
  ...ofContainers({
    'env[]': ['value', 'valueFrom'],
    'env[].valueFrom': [],
    livenessProbe: HANDLERS,
    readinessProbe: HANDLERS,
    startupProbe: HANDLERS,
    'lifecycle.preStop': HANDLERS,
    'lifecycle.postStart': HANDLERS,
  }),
  'resourceClaims[]': [],
  'volumes[]': [],
}

/** `a[].b` → `a`, `a[]`, `a[].b` */
const prefixesOf = (path: Path): Path[] =>
  [...path.matchAll(/\[\]|[.]|$/g)].flatMap(({ index, 0: mark }) => [
    path.slice(0, index),
    path.slice(0, index + mark.length),
  ])

/** Paths that lead to an entry of a table. Below any other, nothing is particular, so its path is not tracked. */
const tracked = new Set([...Object.keys(mergeKeys), ...Object.keys(unions), ...appended].flatMap(prefixesOf))

const trackedPath = (path: Path): Path | undefined => (tracked.has(path) ? path : undefined)

/** Not an inherited member: a template may have a field `constructor`. */
const entryOf = (
  table: Readonly<Record<Path, readonly string[]>>,
  path: Path | undefined,
): readonly string[] | undefined => (path !== undefined && Object.hasOwn(table, path) ? table[path] : undefined)

export function mergePodSpec(spec: JsonObject, part: JsonObject): JsonObject {
  return mergeObject(spec, part, '')
}

function mergeObject(base: JsonObject, part: JsonObject, path: Path | undefined): JsonObject {
  const kept = withoutRivals(base, part, entryOf(unions, path))
  const fields = new Map(Object.entries(kept))
  for (const [name, value] of Object.entries(part)) {
    if (value === null) fields.delete(name)
    else if (value !== undefined) fields.set(name, mergeValue(fields.get(name), value, fieldPath(path, name)))
  }
  return Object.fromEntries(fields)
}

function fieldPath(path: Path | undefined, name: string): Path | undefined {
  if (path === undefined) return undefined
  return trackedPath(path === '' ? name : `${path}.${name}`)
}

const itemPath = (path: Path | undefined): Path | undefined =>
  path === undefined ? undefined : trackedPath(`${path}[]`)

function mergeValue(base: Json | undefined, part: Json, path: Path | undefined): Json {
  if (isList(part)) return mergeList(isList(base) ? base : [], part, path)
  return isJsonObject(part) ? mergeObject(isJsonObject(base) ? base : {}, part, path) : part
}

const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value)

/** Without the fields that exclude one of the part. */
function withoutRivals(base: JsonObject, part: JsonObject, members: readonly string[] | undefined): JsonObject {
  if (members === undefined) return base
  const isMember = (name: string): boolean => (members.length === 0 ? name !== 'name' : members.includes(name))
  const isSet = (name: string): boolean => part[name] !== undefined && part[name] !== null
  if (!Object.keys(part).some((name) => isMember(name) && isSet(name))) return base
  return Object.fromEntries(Object.entries(base).filter(([name]) => !isMember(name) || isSet(name)))
}

function mergeList(base: readonly Json[], part: readonly Json[], path: Path | undefined): readonly Json[] {
  const keys = entryOf(mergeKeys, path)
  if (keys) return mergeItems(base, part, { keys, path: itemPath(path) })
  const items = part.map((item) => mergeValue(undefined, item, itemPath(path)))
  return path !== undefined && appended.has(path) ? distinct([...base, ...items]) : items
}

/** The first of equal items. */
function distinct(items: readonly Json[]): readonly Json[] {
  const seen = new Set<string>()
  return items.filter((item) => {
    const id = canonicalJson(item)
    return !seen.has(id) && seen.add(id)
  })
}

interface ItemType {
  readonly keys: readonly string[]
  readonly path: Path | undefined
}

/** Users decide on the number of items, so the work must not grow with its square. */
function mergeItems(base: readonly Json[], part: readonly Json[], { keys, path }: ItemType): readonly Json[] {
  const items = new Map<string, Json>()
  for (const item of base) {
    const id = identityOf(item, keys) ?? contentOf(item)
    // Items with the same key, which the API server rejects, are kept for it.
    items.set(items.has(id) ? `${items.size} ${id}` : id, item)
  }
  for (const item of part) {
    const id = identityOf(item, keys)
    const merged = mergeValue(id === undefined ? undefined : items.get(id), item, path)
    items.set(id ?? contentOf(merged), merged)
  }
  return [...items.values()]
}

/** Undefined for an item without its key. It is invalid, and kept as it is for the API server to reject. */
function identityOf(item: Json, keys: readonly string[]): string | undefined {
  const values = isJsonObject(item) ? keys.map((key) => keyIn(item, key)) : [undefined]
  return values.every((value) => value !== undefined && typeof value !== 'object') ? JSON.stringify(values) : undefined
}

const contentOf = (item: Json): string => `item ${canonicalJson(item)}`

const keyIn = (item: JsonObject, key: string): Json | undefined => item[key] ?? (key === 'protocol' ? 'TCP' : undefined)
