/**
 * The pod `{name}-checkpoints`. Before an attempt it lists the complete checkpoints, chooses the newest, and deletes those that
 * `keepLast` does not keep. When a job is deleted, it deletes the checkpoints in a bucket. The result is its termination message.
 */
import { trainingGuards } from '../../../api/pod-guards.ts'
import type { UserPodTemplate } from '../../../api/pod-template.ts'
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import type { Pod } from '../../../kube/resources.ts'
import { fingerprint } from '../../fingerprint.ts'
import { type RenderedPod, withPodTemplates } from '../../pod/pod-template.ts'
import { restrictedPodSecurity } from '../../pod/security-context.ts'
import { serviceAccountOf } from '../../pod/service-account.ts'
import type { TrainingConfig } from '../config.ts'
import { gpusOf } from '../frameworks/roles.ts'
import { ATTEMPT_LABEL, checkpointPodName, JOB_UID_LABEL, objectLabels, TEMPLATE_ANNOTATION, WORKER } from '../names.ts'
import type { Attempt } from '../observe/attempt.ts'
import type { TrainingObserved } from '../observe/observed.ts'
import { agentContainer, type AgentWork } from './checkpoint-agent.ts'
import { checkpointRoot, hasBucket } from './checkpoint-storage.ts'
import { checkpointClaim, hasCheckpointClaim } from './claims.ts'
import { resumeSourceOf } from './resume-source.ts'
import { jobScheduling } from './scheduling.ts'
import { checkpointMount, type VolumeMount } from './volumes.ts'

const CONTAINER = 'checkpoints'

export function preparationPod({ job, resumedJob, config }: TrainingObserved, attempt: Attempt): Pod {
  const { keepLast } = job.spec.checkpoint
  const source = resumeSourceOf(job, resumedJob)
  const work = {
    name: CONTAINER,
    args: [
      'checkpoints-prepare',
      `--storage=${checkpointRoot(job.spec)}`,
      `--keep-last=${keepLast}`,
      ...(source ? [`--resume-from=${source.root}`] : []),
    ],
    mounts: source?.claim === undefined ? [] : [{ name: SOURCE, mountPath: source.root, readOnly: true }],
    usesBucket: hasBucket(job.spec) || (source !== undefined && source.claim === undefined),
  }
  return checkpointPod(job, config, { attempt, work, source: source?.claim })
}

/** Deletes the checkpoints in the bucket of a job that is being deleted. */
export function removalPod({ job, config }: TrainingObserved, attempt: Attempt): Pod {
  const args = ['checkpoints-delete', `--storage=${checkpointRoot(job.spec)}`]
  return checkpointPod(job, config, { attempt, work: { name: CONTAINER, args, mounts: [], usesBucket: true } })
}

const SOURCE = 'resume-from'
const TEMPORARY = 'tmp'

interface Task {
  readonly attempt: Attempt
  readonly work: AgentWork
  /** The claim to import from. */
  readonly source?: string | undefined
}

function checkpointPod(job: TrainingJob, config: TrainingConfig, { attempt, work, source }: Task): Pod {
  const mounts: VolumeMount[] = [
    ...(hasCheckpointClaim(job.spec) ? [checkpointMount(job)] : []),
    { name: TEMPORARY, mountPath: '/tmp' },
    ...work.mounts,
  ]
  const spec: object = {
    restartPolicy: 'Never',
    enableServiceLinks: false,
    ...serviceAccountOf(job.spec),
    securityContext: restrictedPodSecurity(config.user, { fsGroupChangePolicy: 'OnRootMismatch' }),
    ...jobScheduling(job, gpusOf(job.spec, WORKER), config),
    volumes: volumesOf(job, work.usesBucket, source),
    containers: [agentContainer(job, config, { ...work, mounts })],
  }
  const labels = { ...objectLabels(job, CONTAINER), component: CONTAINER, [JOB_UID_LABEL]: job.metadata.uid ?? '' }
  const rendered: RenderedPod = { metadata: { labels }, spec: spec as RenderedPod['spec'] }
  const { metadata, spec: merged } = withPodTemplates(
    rendered,
    [withoutContainers(job.spec.podTemplate)],
    trainingGuards,
  )
  const annotations = { ...metadata.annotations, [TEMPLATE_ANNOTATION]: fingerprint(JSON.stringify(merged)) }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: checkpointPodName(job),
      labels: { ...metadata.labels, [ATTEMPT_LABEL]: String(attempt.number) },
      annotations,
    },
    spec: merged,
  }
}

function volumesOf(job: TrainingJob, usesBucket: boolean, source: string | undefined): object[] {
  const claimed = hasCheckpointClaim(job.spec)
  return [
    ...(claimed ? [{ name: 'checkpoints', persistentVolumeClaim: { claimName: checkpointClaim(job) } }] : []),
    { name: TEMPORARY, emptyDir: {} },
    ...(source === undefined ? [] : [{ name: SOURCE, persistentVolumeClaim: { claimName: source, readOnly: true } }]),
    ...(usesBucket ? (job.spec.volumes ?? []) : []),
  ]
}

/** Users, placement and labels of the template apply. Its containers and volumes are those of the training. */
function withoutContainers(template: UserPodTemplate | undefined): UserPodTemplate | undefined {
  if (!template?.spec) return template
  const { containers: _training, initContainers: _before, volumes: _mounted, ...spec } = template.spec
  return { ...template, spec }
}
