/**
 * The Gateways that a model may use: those of its namespace, and those of other namespaces that the administrator allows.
 * Only a reference names the other namespace. Whether the Gateway accepts the route is up to the Gateway.
 */
import { MESH_GATEWAY } from '../../api/hostnames.ts'
import type { GatewayAllowance } from './config.ts'

export interface UsableGateways {
  /** As `name` in the model's own namespace, `namespace/name` in others; each once. */
  readonly gateways: readonly string[]
  /** What was left out, and by which rule. */
  readonly problem?: string
}

export function usableGateways(
  wanted: readonly string[],
  namespace: string,
  allowances: readonly GatewayAllowance[],
): UsableGateways {
  const named = wanted.filter((gateway) => gateway !== MESH_GATEWAY).map((gateway) => shortName(gateway, namespace))
  const patterns = allowances.length === 0 ? ['*'] : patternsFor(namespace, allowances)
  const refused = named.filter((gateway) => !isAllowed(gateway, patterns))
  const gateways = [...new Set(named)].filter((gateway) => !refused.includes(gateway))
  if (refused.length === 0) return { gateways }
  const some = patterns.length === 0 ? 'no Gateway of another namespace' : patterns.join(', ')
  const limit = `serving.allowedGateways of the operator gives namespace ${namespace} ${some}`
  const fix = `use ${patterns.length === 0 ? '' : 'one of these, or '}a Gateway of this namespace`
  return { gateways, problem: `spec.traffic.gateways: ${refused.join(', ')} is not allowed, since ${limit}: ${fix}` }
}

/** `mesh` is reserved by its bare name only, so a Gateway of this name keeps its namespace. */
function shortName(gateway: string, namespace: string): string {
  const name = gateway.startsWith(`${namespace}/`) ? gateway.slice(namespace.length + 1) : gateway
  return name === MESH_GATEWAY ? gateway : name
}

function isAllowed(gateway: string, patterns: readonly string[]): boolean {
  const [namespace, name] = gateway.split('/')
  if (name === undefined) return true
  return patterns.some((pattern) => pattern === '*' || pattern === gateway || pattern === `${namespace}/*`)
}

const patternsFor = (namespace: string, allowances: readonly GatewayAllowance[]): string[] =>
  allowances
    .filter(({ namespaces }) => namespaces.includes(namespace) || namespaces.includes('*'))
    .flatMap(({ gateways }) => gateways)
