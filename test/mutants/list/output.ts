/** What becomes of a trained model: its deployment, and tracking in MLflow. */
import type { Mutant } from '../mutant.ts'
import { contract } from '../oracles.ts'

const deployment = contract('src/plan/training/steps/deployment.test.ts')
const tracking = contract('src/plan/training/report/tracking.test.ts')
const tracker = contract('src/integrations/mlflow/tracker.test.ts')

export const outputMutants: readonly Mutant[] = [
  {
    id: 'training/version-in-use',
    file: 'src/plan/training/steps/deployment.ts',
    what: 'A version that gets traffic is replaced by a model that nobody has tried.',
    from: 'if (found && found.weight > 0)',
    to: 'if (found && found.weight > 100)',
    caughtBy: deployment,
  },
  {
    id: 'training/unrecorded',
    file: 'src/plan/training/steps/deployment.ts',
    what: 'The weight is not recorded before the version is written.',
    from: 'if (!sameJson(version, output?.deploying))',
    to: 'if (version === undefined)',
    caughtBy: deployment,
  },
  {
    id: 'training/existing-takes-traffic',
    file: 'src/plan/training/steps/deployment.ts',
    what: 'A version that is added to a model takes all traffic.',
    from: '(versionIn(model, version)?.weight ?? 0)',
    to: '(versionIn(model, version)?.weight ?? ALL_TRAFFIC)',
    caughtBy: deployment,
  },
  {
    id: 'training/expires-undeployed',
    file: 'src/plan/training/steps/finish.ts',
    what: 'A job is deleted before its model is deployed.',
    from: 'left <= 0 && !isDeploying(job, status)',
    to: 'left <= 0',
    caughtBy: deployment,
  },
  {
    id: 'training/registers-failed',
    file: 'src/plan/training/objects/tracked-run.ts',
    what: 'The model of a failed job is registered.',
    from: "source === undefined || job.status?.state !== 'Completed'",
    to: 'source === undefined || job.status === undefined',
    caughtBy: tracking,
  },
  {
    id: 'training/outage-written-often',
    file: 'src/plan/training/report/tracking.ts',
    what: 'Each other message of an outage of MLflow is another write.',
    from: 'tracked.problem !== undefined && known?.reason === UNAVAILABLE',
    to: 'tracked.problem === known?.message && known?.reason === UNAVAILABLE',
    caughtBy: tracking,
  },
  {
    id: 'integrations/points-doubled',
    file: 'src/integrations/mlflow/run-writer.ts',
    what: 'Points of a call without an answer are sent again.',
    from: '      this.#params = undefined\n',
    to: '',
    caughtBy: tracker,
  },
  {
    id: 'integrations/repeated-report-doubled',
    file: 'src/integrations/mlflow/point-buffer.ts',
    what: 'A step that is reported again to another operator is stored twice.',
    from: 'this.#timed.has(point) ? point.timestamp <= known.timestamp : point.step <= known.step',
    to: 'point.step <= known.step && point.timestamp <= known.timestamp',
    caughtBy: tracker,
  },
  {
    id: 'integrations/run-doubled',
    file: 'src/integrations/mlflow/run-writer.ts',
    what: 'The run is not searched before it is created.',
    from: 'if (first) return idIn(first)',
    to: '',
    caughtBy: tracker,
  },
  {
    id: 'integrations/version-doubled',
    file: 'src/integrations/mlflow/model-registry.ts',
    what: 'A version is registered again by another operator.',
    from: 'if (found !== undefined) return { name, version: found }',
    to: '',
    caughtBy: tracker,
  },
  {
    id: 'integrations/points-unbounded',
    file: 'src/integrations/mlflow/point-buffer.ts',
    what: 'Points of a job fill the memory while MLflow is down.',
    from: 'if (job.points.length > this.#limits.maxPerJob) this.#drop(uid, job)',
    to: '',
    caughtBy: tracker,
  },
  {
    id: 'integrations/response-unbounded',
    file: 'src/integrations/mlflow/mlflow-client.ts',
    what: 'A huge response of MLflow fills the memory of the operator.',
    from: 'if (length > MAX_RESPONSE)',
    to: 'if (length < 0)',
    caughtBy: tracker,
  },
]
