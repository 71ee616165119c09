/**
 * The request of each verb. Pure builders from typed arguments to an `Intent`, which also says whether the request may be
 * repeated and whether it is conditional, so that the sender can retry without knowing verbs.
 */
import type { Call, Method, Verb } from './interceptor.ts'
import { keyOf } from './object.ts'
import type { KubeObject, ObjectKey, Resource } from './object.ts'
import type {
  ApplyOptions,
  DeleteOptions,
  ListOptions,
  RawCall,
  RawWatchOptions,
  StreamLogOptions,
  WriteOptions,
} from './options.ts'
import { checkedPath, collectionPath, objectPath, withQuery } from './path.ts'
import type { Query } from './path.ts'
import { Pod } from './resources.ts'
import type { Intent } from './sender.ts'

type Write = Pick<WriteOptions, 'subresource' | 'dryRun'> & { readonly fieldManager: string }

const READ = { method: 'GET', stream: false, repeatable: true, conditional: false } as const

export function getCall(resource: Resource, key: ObjectKey, subresource?: string): Intent {
  return {
    ...READ,
    verb: 'get',
    path: objectPath(resource, key, subresource),
    ...target(resource, key, subresource),
  }
}

/** A continued list has the version of its first page: the server rejects a resourceVersion beside the token. */
export function listCall(resource: Resource, options: ListOptions, token?: string): Intent {
  const { namespace, labelSelector, fieldSelector, limit, resourceVersion, resourceVersionMatch } = options
  const version = token === undefined ? { resourceVersion, resourceVersionMatch } : { continue: token }
  const path = withQuery(collectionPath(resource, namespace), { labelSelector, fieldSelector, limit, ...version })
  return { ...READ, verb: 'list', path, ...target(resource, { namespace }) }
}

export function watchCall(resource: Resource, options: RawWatchOptions): Intent {
  const { namespace, labelSelector, fieldSelector, resourceVersion, timeoutSeconds } = options
  const initial = options.sendInitialEvents === true && {
    sendInitialEvents: true,
    resourceVersionMatch: 'NotOlderThan',
  }
  const path = withQuery(collectionPath(resource, namespace), {
    watch: true,
    allowWatchBookmarks: true,
    labelSelector,
    fieldSelector,
    resourceVersion,
    timeoutSeconds,
    ...initial,
  })
  return { ...READ, verb: 'watch', path, stream: true, ...target(resource, { namespace }) }
}

/** Without a name, a repeated create would make a second object. With a name, it fails with AlreadyExists. */
export function createCall(resource: Resource, object: KubeObject, options: Write): Intent {
  const { namespace, name } = object.metadata
  const { subresource } = options
  if (resource.namespaced && namespace === undefined) objectPath(resource, { name }) // throws, with the reason
  const path =
    subresource === undefined ? collectionPath(resource, namespace) : objectPath(resource, keyOf(object), subresource)
  return {
    ...writeCall('create', 'POST', withQuery(path, writeQuery(options)), object),
    ...target(resource, { namespace, name }, subresource),
    repeatable: subresource === undefined && typeof name === 'string' && name !== '',
  }
}

export function updateCall(resource: Resource, object: KubeObject, options: Write): Intent {
  const key = keyOf(object)
  const path = withQuery(objectPath(resource, key, options.subresource), writeQuery(options))
  return { ...writeCall('update', 'PUT', path, object), ...target(resource, key, options.subresource) }
}

export function patchCall(resource: Resource, key: ObjectKey, patch: unknown, options: Write): Intent {
  const path = withQuery(objectPath(resource, key, options.subresource), writeQuery(options))
  const contentType = 'application/merge-patch+json'
  return { ...writeCall('patch', 'PATCH', path, patch), contentType, ...target(resource, key, options.subresource) }
}

export function applyCall(
  resource: Resource,
  object: KubeObject,
  options: Write & Pick<ApplyOptions, 'force'>,
): Intent {
  const key = keyOf(object)
  const query = { ...writeQuery(options), force: options.force }
  const path = withQuery(objectPath(resource, key, options.subresource), query)
  const contentType = 'application/apply-patch+yaml' // JSON is YAML
  return { ...writeCall('apply', 'PATCH', path, object), contentType, ...target(resource, key, options.subresource) }
}

/** Repeated after a lost response only if it has a precondition: meanwhile the name may belong to a new object. */
export function deleteCall(resource: Resource, key: ObjectKey, options: DeleteOptions): Intent {
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', ...deleteOptions(options) }
  return {
    ...writeCall('delete', 'DELETE', objectPath(resource, key), body),
    ...target(resource, key),
    repeatable: hasPrecondition(options),
    conditional: hasPrecondition(options),
  }
}

export function evictCall(pod: ObjectKey, options: DeleteOptions): Intent {
  const { namespace, name } = pod
  const body = {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { namespace, name },
    deleteOptions: deleteOptions(options),
  }
  return {
    ...writeCall('create', 'POST', objectPath(Pod, pod, 'eviction'), body),
    ...target(Pod, pod, 'eviction'),
    repeatable: hasPrecondition(options),
    conditional: hasPrecondition(options),
  }
}

export function logCall(pod: ObjectKey, options: StreamLogOptions, stream: boolean): Intent {
  const { container, tailLines, previous, sinceTime, timestamps, limitBytes, follow } = options
  const query = { container, tailLines, previous, sinceTime, timestamps, limitBytes, follow }
  const call = getCall(Pod, pod, 'log')
  return { ...call, path: withQuery(call.path, query), stream }
}

export function rawCall({ method, path, query = {}, body, contentType }: RawCall): Intent {
  const verb = ({ GET: 'get', POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' } as const)[method]
  const whole = withQuery(checkedPath(path), query)
  if (body === undefined) return { ...READ, verb, method, path: whole, repeatable: method === 'GET' }
  const call = writeCall(verb, method, whole, body)
  return { ...call, repeatable: method === 'PUT', ...(contentType === undefined ? {} : { contentType }) }
}

function writeCall(verb: Verb, method: Method, path: string, body: unknown): Intent {
  return {
    verb,
    method,
    path,
    body: JSON.stringify(body),
    contentType: 'application/json',
    stream: false,
    repeatable: true,
    conditional: isConditional(body),
  }
}

function writeQuery({ dryRun, fieldManager }: Write): Query {
  return { fieldManager, dryRun: dryRun === true ? 'All' : undefined }
}

function deleteOptions({ uid, resourceVersion, propagationPolicy, gracePeriodSeconds, dryRun }: DeleteOptions): object {
  return {
    ...(uid !== undefined || resourceVersion !== undefined ? { preconditions: { uid, resourceVersion } } : {}),
    propagationPolicy,
    gracePeriodSeconds,
    ...(dryRun === true ? { dryRun: ['All'] } : {}),
  }
}

function hasPrecondition({ uid, resourceVersion }: DeleteOptions): boolean {
  return uid !== undefined || resourceVersion !== undefined
}

function isConditional(body: unknown): boolean {
  const { uid, resourceVersion } = (body as Partial<KubeObject> | null)?.metadata ?? {}
  return uid !== undefined || resourceVersion !== undefined
}

type Target = Pick<Call, 'resource' | 'namespace' | 'name' | 'subresource'>

/** The object of the call, for interceptors. */
function target(
  resource: Resource,
  key: { namespace?: string | undefined; name?: string },
  subresource?: string,
): Target {
  return {
    resource,
    ...(key.namespace === undefined ? {} : { namespace: key.namespace }),
    ...(key.name === undefined ? {} : { name: key.name }),
    ...(subresource === undefined ? {} : { subresource }),
  }
}
