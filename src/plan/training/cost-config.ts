/** What the administrator configures about the cost of jobs: prices by node, and which nodes are spot nodes. */
import { LABEL_KEY, LABEL_VALUE } from '../../api/affinity.ts'
import type { Toleration } from '../pod/scheduling.ts'

/** The price of nodes. The first entry that matches a node applies; an entry without `nodeLabels` and `spot` matches all. */
export interface NodePrice {
  /** Labels that the node has. */
  readonly nodeLabels?: Readonly<Record<string, string>>
  /** Only for spot nodes, or only for others. */
  readonly spot?: boolean
  /** For one requested GPU, CPU or GiB of memory and an hour. */
  readonly gpuHour?: number
  readonly cpuHour?: number
  readonly memoryGiBHour?: number
}

export interface CostConfig {
  /** Code of the currency of the prices, as in ISO 4217. */
  readonly currency: string
  /** Without prices, the status of jobs has hours only. */
  readonly prices: readonly NodePrice[]
}

/** How spot nodes are told from others, for `scheduling.spot` and for prices. */
export interface SpotConfig {
  /** A node with one of these labels is a spot node. */
  readonly spotLabels: Readonly<Record<string, string>>
  /** For pods that may run on spot nodes. */
  readonly spotTolerations: readonly Toleration[]
}

export const defaultCostConfig: CostConfig = { currency: 'USD', prices: [] }

/** The labels and taints of the large clouds and of Karpenter. */
export const defaultSpotConfig: SpotConfig = {
  spotLabels: {
    'cloud.google.com/gke-spot': 'true',
    'eks.amazonaws.com/capacityType': 'SPOT',
    'karpenter.sh/capacity-type': 'spot',
    'kubernetes.azure.com/scalesetpriority': 'spot',
  },
  spotTolerations: [
    { key: 'cloud.google.com/gke-spot', operator: 'Exists', effect: 'NoSchedule' },
    { key: 'kubernetes.azure.com/scalesetpriority', operator: 'Exists', effect: 'NoSchedule' },
  ],
}

type Labels = Readonly<Record<string, string>>

export const isSpotNode = (labels: Labels, { spotLabels }: Pick<SpotConfig, 'spotLabels'>): boolean =>
  Object.entries(spotLabels).some(([label, value]) => labels[label] === value)

/** What is wrong with the settings, with the setting and the fix; undefined if nothing is. */
export function costConfigProblem(
  cost: CostConfig,
  { spotLabels }: Pick<SpotConfig, 'spotLabels'>,
): string | undefined {
  const { currency = '', prices = [], ...others } = cost as Partial<CostConfig>
  const [unknown] = Object.keys(others)
  if (!isLabels(spotLabels) || Object.keys(spotLabels).length === 0)
    return 'spotLabels must be a map of at least one node label to its value, such as { karpenter.sh/capacity-type: spot }'
  if (unknown !== undefined) return `cost.${unknown} is unknown: cost has currency and prices`
  if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency))
    return 'cost.currency must be a code of three capital letters, such as USD'
  if (!Array.isArray(prices)) return 'cost.prices must be a list of prices, such as [{ gpuHour: 2.5 }]'
  return prices.map(priceProblem).find((problem) => problem !== undefined)
}

const AMOUNTS = ['gpuHour', 'cpuHour', 'memoryGiBHour'] as const
const MAX_PRICE = 1_000_000

function priceProblem(price: unknown, index: number): string | undefined {
  const at = `cost.prices[${index}]`
  if (!isMap(price)) return `${at} must be a map with ${AMOUNTS.join(', ')}, nodeLabels and spot`
  const { nodeLabels = {}, spot, ...amounts } = price
  const unknown = Object.keys(amounts).find((name) => !AMOUNTS.some((one) => one === name))
  if (unknown !== undefined)
    return `${at}.${unknown} is unknown: a price has ${AMOUNTS.join(', ')}, nodeLabels and spot`
  if (!isLabels(nodeLabels))
    return `${at}.nodeLabels must be a map of node labels to their values, such as { node.kubernetes.io/instance-type: p5.48xlarge }`
  if (spot !== undefined && typeof spot !== 'boolean') return `${at}.spot must be true or false; omit it for both`
  const wrong = Object.entries(amounts).find(([, value]) => !isPrice(value))
  if (wrong) return `${at}.${wrong[0]} must be a number from 0 to ${MAX_PRICE}, without the currency, such as 2.5`
  return Object.keys(amounts).length > 0 ? undefined : `${at} has no price: set one of ${AMOUNTS.join(', ')}`
}

const isPrice = (value: unknown): boolean =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 && value <= MAX_PRICE

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isLabels = (value: unknown): boolean =>
  isMap(value) &&
  Object.entries(value).every(
    ([label, one]) => new RegExp(LABEL_KEY).test(label) && typeof one === 'string' && new RegExp(LABEL_VALUE).test(one),
  )
