/** A lane in which specs are changed. */
import { servingOutcome } from '../fakes/routers.ts'
import type { Decide } from '../fakes/kubelet.ts'
import { ownerOf } from '../builders/training-job.ts'
import { Lane, type CampaignCluster } from './lane.ts'
import type { FullSpec } from './full-specs.ts'

/** Workers stay unscheduled, so an edit of their job replaces them at once. */
const pendingWorkers: Decide = (pod) => (ownerOf(pod) === '' ? servingOutcome()(pod) : 'unscheduled')

/** The object under test and what it needs. */
export async function transitionLane(campaignCluster: CampaignCluster, { subject, others }: FullSpec): Promise<Lane> {
  const lane = await Lane.open(campaignCluster, pendingWorkers)
  for (const { resource, object } of [subject, ...others]) await lane.create(resource, object)
  return lane
}
