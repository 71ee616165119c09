/**
 * How a model is reachable from outside the cluster: its gateways, and the host names that its namespace may use. What is
 * not allowed is left out of every object and reported.
 */
import { hostnameProblem } from '../../api/hostnames.ts'
import type { Traffic } from '../../api/serving-traffic.ts'
import type { GatewayAllowance, HostnameAllowance } from './config.ts'
import { usableGateways } from './gateways.ts'

export interface Exposure {
  readonly gateways?: readonly string[]
  readonly hostnames?: readonly string[]
  /** What was left out, and by which rule. */
  readonly problem?: string
  /** A gateway was left out. */
  readonly hasForeignGateway?: true
}

/** The gateways and host names that the namespace may use. */
export function allowedExposure(
  traffic: Pick<Traffic, 'gateways' | 'hostnames'>,
  namespace: string,
  config: {
    readonly allowedHostnames: readonly HostnameAllowance[]
    readonly allowedGateways: readonly GatewayAllowance[]
  },
): Exposure {
  const { gateways: given, ...rest } = traffic
  const { gateways, problem } = usableGateways(given ?? [], namespace, config.allowedGateways)
  if (problem === undefined || gateways.length > 0) {
    const found = exposureOf({ ...rest, ...(given && { gateways: [...gateways] }) }, namespace, config.allowedHostnames)
    return problem === undefined ? found : { ...found, ...refusal([problem, found.problem ?? '']) }
  }
  return refusal([problem])
}

const refusal = (problems: readonly string[]) =>
  ({ problem: problems.filter((problem) => problem !== '').join('; '), hasForeignGateway: true }) as const

/** If none of the host names is allowed, no gateways: a route without host names would match every host. */
export function exposureOf(
  { gateways, hostnames }: Pick<Traffic, 'gateways' | 'hostnames'>,
  namespace: string,
  allowances: readonly HostnameAllowance[],
): Exposure {
  const named = usableGateways(gateways ?? [], namespace, []).gateways
  if (named.length === 0) return hostnames || gateways ? { problem: NO_GATEWAY } : {}
  const patterns = allowances.length === 0 ? ['*'] : patternsFor(namespace, allowances)
  if (!hostnames) return patterns.includes('*') ? { gateways: named } : { problem: needsHostnames(namespace, patterns) }
  const problems = hostnames.map((hostname) => [hostname, problemOf(hostname, namespace, patterns)] as const)
  const allowed = problems.flatMap(([hostname, problem]) => (problem === undefined ? [hostname] : []))
  const problem = problems.flatMap(([, found]) => found ?? []).join('; ')
  return {
    ...(allowed.length > 0 && { gateways: named, hostnames: allowed }),
    ...(problem !== '' && { problem }),
  }
}

const NO_GATEWAY = 'spec.traffic.hostnames: host names are served at gateways only: set spec.traffic.gateways'

function needsHostnames(namespace: string, patterns: readonly string[]): string {
  return `spec.traffic.hostnames: required with gateways, since ${limit(namespace, patterns)}`
}

function problemOf(hostname: string, namespace: string, patterns: readonly string[]): string | undefined {
  const problem = hostnameProblem(hostname)
  if (problem !== undefined) return `${hostname}: ${problem}`
  if (patterns.some((pattern) => isCovered(hostname, pattern))) return undefined
  return `spec.traffic.hostnames: ${hostname} is not allowed, since ${limit(namespace, patterns)}`
}

function limit(namespace: string, patterns: readonly string[]): string {
  const some = patterns.length === 0 ? 'no host name' : patterns.join(', ')
  return `serving.allowedHostnames of the operator gives namespace ${namespace} ${some}`
}

const patternsFor = (namespace: string, allowances: readonly HostnameAllowance[]): string[] =>
  allowances
    .filter(({ namespaces }) => namespaces.includes(namespace) || namespaces.includes('*'))
    .flatMap(({ hostnames }) => hostnames)

/** `*.example.com` covers every name below example.com, also wildcards, but not example.com itself. */
function isCovered(hostname: string, pattern: string): boolean {
  if (pattern === '*' || pattern === hostname) return true
  return pattern.startsWith('*.') && hostname.endsWith(pattern.slice(1))
}
