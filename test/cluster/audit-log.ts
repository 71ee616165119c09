/** Reads the audit log of a control plane that was started with `audit`: who did what, as the API server saw it. */
import { readFileSync } from 'node:fs'

export interface AuditedRequest {
  readonly user: string
  readonly verb: string
  /** Empty for cluster-scoped objects and for requests across all namespaces. */
  readonly namespace: string
  /** `group/resource[/subresource]` */
  readonly resource: string
  readonly name: string
  readonly code: number
}

interface AuditEvent {
  readonly user: { readonly username: string }
  readonly verb: string
  readonly objectRef?: Readonly<Record<string, string>>
  readonly responseStatus?: { readonly code?: number }
}

/** The requests of a user for resources, oldest first. A watch that is still open is included once it has begun. */
export function requestsOf(auditLog: string, user: string): AuditedRequest[] {
  const lines = readFileSync(auditLog, 'utf8').trim().split('\n')
  return lines
    .map((line) => JSON.parse(line) as AuditEvent)
    .filter((event) => event.user.username === user && event.objectRef !== undefined)
    .map(({ verb, objectRef = {}, responseStatus }) => ({
      user,
      verb,
      namespace: objectRef['namespace'] ?? '',
      resource: [objectRef['apiGroup'] ?? '', objectRef['resource'], objectRef['subresource']]
        .filter((part) => part !== undefined)
        .join('/'),
      name: objectRef['name'] ?? '',
      code: responseStatus?.code ?? 0,
    }))
}

/** The objects that the requests have changed: `namespace group/resource name`, each once. */
export function objectsWritten(requests: readonly AuditedRequest[]): string[] {
  const writes = requests.filter(({ verb, code }) => !['get', 'list', 'watch'].includes(verb) && code < 400)
  return [...new Set(writes.map(({ namespace, resource, name }) => `${namespace} ${parent(resource)} ${name}`))]
}

/** Without the subresource: `group/resource`. */
function parent(resource: string): string {
  return resource.split('/').slice(0, 2).join('/')
}
