/**
 * Scenarios of what is recorded about a job: its history after the end, exactly one ConfigMap and complete; a change of size
 * that waits for a checkpoint; and its run and model in MLflow.
 */
import { modelDeployments } from '../../../src/api/kinds.ts'
import { ConfigMap } from '../../../src/kube/resources.ts'
import { historyIn } from '../../builders/history.ts'
import { endOneFirst, succeedTogether } from '../../builders/training-job.ts'
import type { Oracle } from '../oracles/oracle.ts'
import { trainingOracles } from '../oracles/training-oracles.ts'
import type { Scenario, ScenarioContext } from './scenario.ts'
import { reportCheckpoint } from './scenario-reports.ts'
import { registeredOnce } from './scenario-tracking.ts'
import { assertEquals, attemptsIn, change, create, current, reaches, runs, scenario } from './training-scenarios.ts'

const NAME = 'job-history'

/** T8: the history of a job is written once, and stays as it is. */
function keptOnce(): Oracle {
  return {
    name: 'T8',
    onChange: ({ type, object, previous }) => {
      if (object.kind !== ConfigMap.kind || object.metadata.name !== NAME) return undefined
      if (type === 'deleted') return 'the history was deleted'
      return previous === undefined ? undefined : 'the history was changed'
    },
  }
}

async function historyOf({ until, cluster }: ScenarioContext) {
  const kept = await until('the history', () => cluster.list(ConfigMap).find(({ metadata }) => metadata.name === NAME))
  return historyIn(kept)
}

const withHistory = (name: string, run: Scenario['run']): Scenario => ({
  ...scenario(name, run),
  oracles: () => [...trainingOracles(), keptOnce()],
})

/** The API server rejected a pod, so that the attempt ended before it ran. */
const isRejection = (reason: string | undefined): boolean => reason === 'QuotaExceeded' || reason === 'WriteRejected'

const completes = withHistory('history: complete, clean up', async (context) => {
  context.kubelet.decide(succeedTogether(2))
  await create(context, { cleanPodPolicy: 'All' })
  const { metadata } = await reaches(context, 'Completed')
  const { uid, status } = await historyOf(context)
  await assertEquals('T8: job', uid, metadata.uid)
  await assertEquals('T8: state', status.state, 'Completed')
  await assertEquals('T8: attempts', status.attemptHistory?.length, 1)
})

const restarts = withHistory('history: fail, restart, complete', async (context) => {
  context.kubelet.decide(endOneFirst({ exitCode: 1 }, { rank: 1, size: 2 }))
  await create(context, { cleanPodPolicy: 'None' })
  await reaches(context, 'Completed')
  const { status } = await historyOf(context)
  const reasons = status.attemptHistory?.map(({ reason }) => reason).filter((reason) => !isRejection(reason))
  await assertEquals('T8: reasons', reasons?.join(', '), 'Error, TrainingCompleted')
})

const resizes = withHistory('elastic: resize at a checkpoint', async (context) => {
  const elastic = { minWorkers: 1, maxWorkers: 4 }
  const { metadata } = await create(context, { numWorkers: 2, elastic, cleanPodPolicy: 'None' })
  await runs(context, 2)
  reportCheckpoint(metadata.uid ?? '', 1, Date.now() - 60_000)
  await change(context, { numWorkers: 3 })
  await context.until(
    'the change to wait for a checkpoint',
    () => current(context)?.status?.resize?.reason === 'WaitingForCheckpoint',
  )
  reportCheckpoint(metadata.uid ?? '', 2)
  await runs(context, 3)
  context.kubelet.decide(succeedTogether(3))
  const { status } = await reaches(context, 'Completed')
  await assertEquals('T4: failures', status?.failures, 0)
  await assertEquals('T4: attempts', attemptsIn(context, status), 2)
  await historyOf(context)
})

const train = withHistory('train, register, deploy', async (context) => {
  context.kubelet.decide(succeedTogether(1))
  const deploy = { name: 'model', version: 'v1', runtime: 'triton' }
  const output = { path: 'model', registerAs: 'sentiment', deploy }
  const { metadata } = await create(context, { numWorkers: 1, tracking: { mlflow: { experiment: 'nlp' } }, output })
  reportCheckpoint(metadata.uid ?? '', 1)
  const { status } = await context.until('the model to be registered and deployed', () => {
    const job = current(context)
    const { registered, deployed } = job?.status?.output ?? {}
    return registered && deployed && job?.status?.tracking?.runStatus === 'FINISHED' ? job : undefined
  })
  await assertEquals('T9: name', status?.output?.registered?.name, `${context.namespace}.sentiment`)
  await assertEquals('T9: version', status?.output?.registered?.version, '1')
  const models = context.cluster.list(modelDeployments)
  const versions = models.flatMap(({ spec }) => spec.versions.map(({ name, weight }) => `${name} ${weight}`))
  await assertEquals('T9: versions', versions.join(', '), 'v1 100')
  await historyOf(context)
})

const registers: Scenario = {
  ...train,
  kinds: [...train.kinds, modelDeployments],
  oracles: () => [...train.oracles(), registeredOnce()],
}

export const recordScenarios: readonly Scenario[] = [completes, restarts, resizes, registers]
