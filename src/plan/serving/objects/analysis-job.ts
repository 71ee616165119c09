/** The Job of a metric: it judges one version in one step of a rollout. Its pod passes Pod Security `restricted` and has no token. */
import type { JobMetric } from '../../../api/serving-analysis-metric.ts'
import type { Job } from '../../../kube/resources.ts'
import { modelLabels, ROLE_LABEL, serverLabels, versionedName } from '../../model-names.ts'
import { gpuEnvironment } from '../../pod/gpu-environment.ts'
import { resourcesOf } from '../../pod/resources.ts'
import { restrictedContainerSecurity, restrictedPodSecurity } from '../../pod/security-context.ts'
import { serviceAccountOf } from '../../pod/service-account.ts'
import type { ModelView } from '../observe/view.ts'
import { judgingJob } from './judging-job.ts'
import type { PodTemplate } from './pod-template.ts'

export const ANALYSIS_CONTAINER = 'analyse'
export const ANALYSIS = 'analysis'

/** What is judged. */
export interface Judged {
  readonly metric: JobMetric
  readonly version: string
  readonly jobName: string
  readonly revision: number
  readonly step: number
  /** Percent of the traffic. */
  readonly weight: number
}

export function analysisJob(view: ModelView, judged: Judged): Job {
  const { metric, version, jobName: name } = judged
  const { timeoutSeconds } = metric.job
  const template = templateOf(view, judged)
  const container = ANALYSIS_CONTAINER
  return judgingJob(view.model, { name, version, role: ANALYSIS, container, timeoutSeconds, template })
}

function templateOf(view: ModelView, judged: Judged): PodTemplate {
  const { model, observed } = view
  const { metric, version } = judged
  const { image, command, args, resources } = metric.job
  const { imagePullSecrets } = model
  const compute = resourcesOf(resources, 0, observed.config)
  const labels = { ...modelLabels(model, ANALYSIS, version), ...serverLabels(model, version), [ROLE_LABEL]: ANALYSIS }
  return {
    metadata: { labels },
    spec: {
      restartPolicy: 'Never',
      enableServiceLinks: false,
      ...serviceAccountOf({ ...(imagePullSecrets && { imagePullSecrets }) }),
      securityContext: restrictedPodSecurity(observed.config.user),
      containers: [
        {
          name: ANALYSIS_CONTAINER,
          image,
          ...(command && { command: [...command] }),
          ...(args && { args: [...args] }),
          env: [...environmentOf(view, judged), ...gpuEnvironment(compute)],
          resources: compute,
          securityContext: restrictedContainerSecurity(),
          // The last output usually is the cause of the failure.
          terminationMessagePolicy: 'FallbackToLogsOnError',
          volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
        },
      ],
      volumes: [{ name: 'tmp', emptyDir: {} }],
    },
  }
}

function environmentOf({ model, port }: ModelView, { metric, version, revision, step, weight }: Judged) {
  const { namespace = 'default' } = model.metadata
  const own = {
    MODEL_NAME: model.modelName,
    MODEL_VERSION: version,
    MODEL_URL: `http://${versionedName(model, version)}.${namespace}.svc:${port}`,
    MODEL_WEIGHT: String(weight),
    ROLLOUT_REVISION: String(revision),
    ROLLOUT_STEP: String(step),
  }
  const users = (metric.job.env ?? []).map(({ name, value, valueFrom }) =>
    valueFrom ? { name, valueFrom } : { name, value },
  )
  return [...Object.entries(own).map(([name, value]) => ({ name, value })), ...users]
}
