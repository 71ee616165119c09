/** MLflow of all scenarios, which outlives the operators, and what every job must have in it. */
import { trainingJobs } from '../../../src/api/kinds.ts'
import type { TrainingJob } from '../../../src/api/trainingjob.v1.ts'
import { defaultMlflowConfig, mlflowClient } from '../../../src/integrations/mlflow/mlflow-client.ts'
import { Tracker } from '../../../src/integrations/mlflow/tracker.ts'
import type { Clock } from '../../../src/runtime/index.ts'
import { FakeMlflow } from '../../fakes/mlflow.ts'
import type { Oracle } from '../oracles/oracle.ts'

export const scenarioMlflow = new FakeMlflow()

/** The tracker of one run of the operator. `close` ends it as a crash does: a request without a response stays so. */
export function scenarioTracker(clock: Clock): { readonly tracker: Tracker; readonly close: () => void } {
  const config = { ...defaultMlflowConfig, url: scenarioMlflow.url }
  const connected = mlflowClient(config)
  const client = {
    url: config.url,
    call: async (...request: Parameters<Awaited<typeof connected>['call']>) => (await connected).call(...request),
  }
  const tracker = new Tracker({ client, config, clock, flushMs: 1, retryMs: 20 })
  const close = (): void => {
    tracker.close()
    void connected.then((opened) => opened.close())
  }
  return { tracker, close }
}

/** T9: MLflow has one run of a tracked job, and one version of the model of a completed one. What was registered stays. */
export function registeredOnce(): Oracle {
  return {
    name: 'T9',
    onChange: ({ object, previous }) => {
      if (object.kind !== trainingJobs.kind || previous === undefined) return undefined
      const [before, now] = [previous, object].map((job) => registered(job as TrainingJob))
      return before === undefined || before === now ? undefined : `${before} became ${now}`
    },
    atRest: (cluster) => cluster.list(trainingJobs).flatMap(miscounted),
  }
}

function registered({ status }: TrainingJob): string | undefined {
  const { runId } = status?.tracking ?? {}
  const { registered: model } = status?.output ?? {}
  return model && `version ${model.version} of ${model.name} from run ${runId}`
}

function miscounted({ metadata: { uid = '' }, spec }: TrainingJob): string[] {
  const runs = scenarioMlflow.runs.filter(({ tags }) => tags.get('ml-operator.uid') === uid)
  const versions = scenarioMlflow.versions.filter(({ run_id: id }) => runs.some((run) => run.id === id))
  const counts = `${runs.length} runs with ${versions.length} versions`
  const expected = `1 runs with ${spec.output?.registerAs === undefined ? 0 : 1} versions`
  return counts === expected ? [] : [`T9: MLflow has ${counts} instead of ${expected}`]
}
