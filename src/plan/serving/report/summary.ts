/** The columns of `kubectl get`, from what the rest of the status says. None is empty before pods exist. */
import type { ActiveVersion, ServingStatus } from '../../../api/serving-status.ts'

interface Summary {
  readonly replicas: number
  readonly ready: string
  readonly weights: string
  readonly requestRate: string
}

const NOTHING = '-'

export function summaryOf(versions: readonly ActiveVersion[], rates: ServingStatus['metrics']): Summary {
  const total = (of: (version: ActiveVersion) => number | undefined): number =>
    versions.reduce((sum, version) => sum + (of(version) ?? 0), 0)
  const replicas = total((version) => version.replicas)
  const weights = versions.map(({ name, weight = 0 }) => `${name}:${weight}`)
  return {
    replicas,
    ready: `${total(({ healthyReplicas }) => healthyReplicas)}/${replicas}`,
    weights: weights.length === 0 ? NOTHING : weights.join(' '),
    requestRate: rates?.requestsPerSecond === undefined ? NOTHING : String(rates.requestsPerSecond),
  }
}
