/**
 * Hostnames that no model may use at a gateway: names inside the cluster, IP addresses and single labels. The API server
 * rejects them at admission. The planner ignores them, because objects stored by an older release may still have them.
 */

interface HostnameRule {
  /** Matches hostnames to reject. Has the same meaning in RE2 and JavaScript. */
  readonly pattern: string
  readonly message: string
}

const FIX = 'use a public name such as model.example.com'

export const hostnameRules: readonly HostnameRule[] = [
  {
    pattern: '^([*][.])?[^.]+$',
    message: `spec.traffic.hostnames must have at least two labels: ${FIX}`,
  },
  {
    pattern: '[.](svc|pod)([.]|$)|(^|[.])(cluster[.]local|localhost)$',
    message: `spec.traffic.hostnames must not name a host inside the cluster: ${FIX}`,
  },
  {
    pattern: '(^|[.])(0x[0-9a-f]*|[0-9]+)$',
    message: `spec.traffic.hostnames must not be an IP address: ${FIX}`,
  },
]

const compiled = hostnameRules.map(({ pattern, message }) => ({ pattern: new RegExp(pattern), message }))

/** Returns why the hostname is rejected, or undefined if it is allowed. */
export function hostnameProblem(hostname: string): string | undefined {
  return compiled.find(({ pattern }) => pattern.test(hostname))?.message
}

/** Not the name of a Gateway: in Istio it means every sidecar of the mesh. */
export const MESH_GATEWAY = 'mesh'
