/** The campaigns with generated objects, as `make test-faults` runs them. */
import { editCampaign, type EditReport } from './edit-campaign.ts'
import { type LiveObject, openLane, liveObjects, routedObjects } from './live-objects.ts'
import { openCluster } from './campaign-cluster.ts'
import { runTransitions, type TransitionReport } from './transition-campaign.ts'
import { transitionLane } from './transition-lane.ts'

export { poisonCampaign } from './poison-campaign.ts'

export interface CampaignOptions {
  readonly kubeconfig: string
  readonly seed: number
  readonly onProgress?: (line: string) => void
}

export interface HandEditOptions extends CampaignOptions {
  readonly lanes?: number
  /** Number of edits, chosen by the seed. Default: all. */
  readonly sample?: number
}

/** Edits every field of every child by hand, on a cluster with Istio and the Gateway API. */
export async function handEditCampaign(options: HandEditOptions): Promise<EditReport> {
  const { kubeconfig, seed, lanes = 4, sample, onProgress } = options
  const campaignCluster = await openCluster(kubeconfig, { isRouted: true })
  const common = { lanes, seed, ...(sample !== undefined && { sample }), ...(onProgress && { onProgress }) }
  try {
    const run = (objects: readonly LiveObject[]): Promise<EditReport> =>
      editCampaign({ ...common, open: () => openLane(campaignCluster, objects) })
    return sum(await run(liveObjects), await run(routedObjects))
  } finally {
    await campaignCluster.close()
  }
}

function sum(one: EditReport, other: EditReport): EditReport {
  const verdicts = Object.fromEntries(
    Object.entries(one.verdicts).map(([verdict, count]) => [verdict, count + other.verdicts[verdict as 'repaired']]),
  ) as EditReport['verdicts']
  return {
    edits: one.edits + other.edits,
    verdicts,
    violations: [...one.violations, ...other.violations],
  }
}

export interface TransitionCampaignOptions extends CampaignOptions {
  readonly lanes?: number
  /** Number of operations, chosen by the seed. Default: all. */
  readonly sample?: number
  /** Where finished operations are recorded, so that a campaign can be continued. */
  readonly stateFile?: string
}

/** Changes and removes every leaf of every schema on a live object, then reverts it. */
export async function transitionCampaign(options: TransitionCampaignOptions): Promise<TransitionReport> {
  const { kubeconfig, lanes = 4, ...rest } = options
  const campaignCluster = await openCluster(kubeconfig)
  try {
    return await runTransitions({ ...rest, lanes, open: (fullSpec) => transitionLane(campaignCluster, fullSpec) })
  } finally {
    await campaignCluster.close()
  }
}
