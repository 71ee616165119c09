/**
 * Records which verbs the operator uses on which resources, in one namespace or not, once each, in the directory `TEST_CALLS` that the test runner
 * sets. `test/rbac` compares them with the operator's roles. Does nothing without the directory.
 */
import { appendFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Interceptor } from '../../src/kube/interceptor.ts'

/** Whether a request names a namespace. One for all namespaces, or for a kind without namespaces, does not. */
export type Scope = 'namespace' | 'cluster'

export interface RecordedCall {
  /** `verb group/resource[/subresource]` */
  readonly right: string
  readonly scope: Scope
}

const directory = process.env['TEST_CALLS']
const known = new Set<string>()

/** Records the calls of an operator that runs in the test's process. To be the interceptor closest to the wire. */
export const recordingInterceptor: Interceptor = async (call, next) => {
  const response = await next(call)
  if (call.resource) record(call, response.status)
  return response
}

/** The RBAC verbs of a call. An apply needs `patch`, and `create` when the object did not exist. */
function verbsOf(method: string, path: string, status: number): string[] {
  const { pathname, searchParams } = new URL(path, 'http://server')
  if (method === 'GET') {
    if (searchParams.get('watch') === 'true') return ['watch']
    return [isCollection(pathname) ? 'list' : 'get']
  }
  if (method === 'PATCH') return status === 201 ? ['patch', 'create'] : ['patch']
  return [{ POST: 'create', PUT: 'update', DELETE: 'delete' }[method] ?? method]
}

/** `group/resource[/subresource] scope`, or undefined for a path that is not a resource. */
function targetAt(path: string): string | undefined {
  const parts = partsOf(new URL(path, 'http://server').pathname)
  if (!parts) return undefined
  const { group, resource, subresource, scope } = parts
  return `${[group, resource, ...(subresource === undefined ? [] : [subresource])].join('/')} ${scope}`
}

function isCollection(pathname: string): boolean {
  return partsOf(pathname)?.name === undefined
}

function partsOf(pathname: string) {
  const match = /^\/(?:api|apis\/([^/]+))\/v[^/]+\/(.+)$/.exec(pathname)
  if (!match) return undefined
  const [, group = '', rest = ''] = match
  const words = rest.split('/')
  const isNamespaced = words[0] === 'namespaces' && words.length > 2
  const [resource = '', name, subresource] = isNamespaced ? words.slice(2) : words
  const scope: Scope = isNamespaced ? 'namespace' : 'cluster'
  return { group, resource, name, subresource, scope }
}

export function record({ method, path }: { readonly method: string; readonly path: string }, status: number): void {
  const target = targetAt(path)
  if (directory === undefined || target === undefined) return
  for (const verb of verbsOf(method, path, status)) {
    const line = `${verb} ${target}`
    if (known.has(line)) continue
    known.add(line)
    appendFileSync(join(directory, String(process.pid)), `${line}\n`)
  }
}

/** All calls recorded so far, by any process. */
export function recordedCalls(from: string): RecordedCall[] {
  const lines = readdirSync(from).flatMap((name) => readFileSync(join(from, name), 'utf8').trim().split('\n'))
  return [...new Set(lines)]
    .filter(Boolean)
    .toSorted()
    .map((line) => {
      const [verb = '', resource = '', scope = ''] = line.split(' ')
      return { right: `${verb} ${resource}`, scope: scope as Scope }
    })
}
