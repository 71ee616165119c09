/** Scenarios of gangs that get only some of their nodes. */
import type { TrainingJob } from '../../../src/api/trainingjob.v1.ts'
import { trainingJobs } from '../../../src/api/kinds.ts'
import { attemptOf, rankOf, succeedTogether } from '../../builders/training-job.ts'
import type { Scenario, ScenarioContext } from './scenario.ts'
import { assertEquals, create, reaches, scenario } from './training-scenarios.ts'

const isReleased = ({ cluster }: ScenarioContext): boolean =>
  cluster.changes.some(
    ({ object }) =>
      object.kind === trainingJobs.kind && (object as TrainingJob).status?.reason?.startsWith('GangTimedOut:'),
  )

/** Worker 1 finds no node until the gang has given its nodes back. The scheduler of the cluster reports that it finds none. */
const releases = scenario('half of the nodes, release, complete', async (context) => {
  const halves = new Set<number>()
  context.kubelet.decide((pod, pods) => {
    if (!isReleased(context)) halves.add(attemptOf(pod))
    if (!halves.has(attemptOf(pod))) return succeedTogether(2)(pod, pods)
    return rankOf(pod) === '1' ? 'unscheduled' : undefined
  })
  await create(context, { scheduling: { gangTimeoutSeconds: 4 } })
  const { status } = await reaches(context, 'Completed')
  await assertEquals('T4: failures', status?.failures, 0)
  await assertEquals('T4: restarts', status?.restarts, 0)
  await assertEquals('released', isReleased(context), true)
})

export const gangScenarios: readonly Scenario[] = [releases]
