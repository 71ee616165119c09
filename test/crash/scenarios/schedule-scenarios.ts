/** Scenarios of a TrainingSchedule. Each must end the same way wherever the operator crashes. See `scheduleHarness`. */
import { trainingJobs, trainingSchedules } from '../../../src/api/kinds.ts'
import type { TrainingJob } from '../../../src/api/trainingjob.v1.ts'
import type { TrainingScheduleStatus } from '../../../src/api/trainingschedule.v1.ts'
import { ConfigMap, Job, PersistentVolumeClaim, Pod, Service } from '../../../src/kube/resources.ts'
import { succeedTogether } from '../../builders/training-job.ts'
import { trainingSchedule } from '../../builders/training-schedule.ts'
import { scheduleOracles } from '../oracles/schedule-oracles.ts'
import { removedGangs } from './training-scenarios.ts'
import type { Scenario, ScenarioContext } from './scenario.ts'

const NAME = 'yearly'

/** Waits until the status of the current generation is like this, and the number of runs is this. */
async function reaches(
  { until, cluster }: ScenarioContext,
  what: string,
  holds: (status: TrainingScheduleStatus, runs: readonly TrainingJob[]) => boolean,
): Promise<void> {
  await until(what, () => {
    const { metadata, status } = cluster.list(trainingSchedules)[0] ?? {}
    const isCurrent = status !== undefined && status.observedGeneration === metadata?.generation
    return isCurrent && holds(status, cluster.list(trainingJobs))
  })
}

/** The second time is later than the first, and due as soon as the schedule changes. */
const starts: Scenario = {
  name: 'schedule: due, run, complete, prune',
  primary: trainingSchedules,
  kinds: [trainingJobs, Pod, Service, ConfigMap, PersistentVolumeClaim, Job],
  oracles: scheduleOracles,
  retries: removedGangs,
  run: async (context) => {
    const { client, namespace, kubelet } = context
    kubelet.decide(succeedTogether(1))
    const spec = { schedule: '0 0 1 1 *', successfulJobsHistoryLimit: 1 }
    await client.create(trainingSchedules, trainingSchedule(namespace, NAME, spec))
    await reaches(context, 'the first run to complete', ({ activeCount, lastSuccessfulTime }, runs) => {
      return runs.length === 1 && activeCount === 0 && lastSuccessfulTime !== undefined
    })
    await client.patch(trainingSchedules, { namespace, name: NAME }, { spec: { schedule: '0 0 2 1 *' } })
    await reaches(context, 'only the second run to be kept', ({ activeCount, lastScheduleTime = '' }, runs) => {
      const isSecond = runs.length === 1 && runs[0]?.status?.state === 'Completed'
      return isSecond && activeCount === 0 && lastScheduleTime.includes('-01-02T')
    })
  },
}

export const scheduleScenarios: readonly Scenario[] = [starts]
