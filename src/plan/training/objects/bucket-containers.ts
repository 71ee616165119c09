/**
 * Init containers of the agent in the pods of a job whose checkpoints are in a bucket. Before the training starts, every pod
 * gets the checkpoint to resume from. A sidecar next to the process that saves uploads each complete checkpoint.
 */
import type { PodIdentity } from '../frameworks/pod-identity.ts'
import { decidingRole } from '../frameworks/roles.ts'
import type { Pod } from '../../../kube/resources.ts'
import type { TrainingConfig } from '../config.ts'
import { WORKER } from '../names.ts'
import type { Reporting } from '../observe/observed.ts'
import { agentContainer } from './checkpoint-agent.ts'
import { checkpointDirectory, checkpointNameAt, checkpointRoot, hasBucket } from './checkpoint-storage.ts'
import { reportMount, reportVariables } from './reporting.ts'
import { checkpointMount } from './volumes.ts'

type Container = NonNullable<Pod['spec']>['containers'][number]

/** How long the sidecar may upload the last checkpoint after the training has ended. */
const UPLOAD_SECONDS = 120

interface Start {
  readonly reporting?: Reporting | undefined
  readonly resumeFrom?: string | undefined
}

/** Fields of the PodSpec. */
export function bucketFields(pod: PodIdentity, config: TrainingConfig, start: Start): object {
  if (!hasBucket(pod.job.spec)) return {}
  const isSaving = savesCheckpoints(pod)
  return {
    initContainers: [
      ...download(pod, config, start.resumeFrom),
      ...(isSaving ? [upload(pod, config, start.reporting)] : []),
    ],
    ...(isSaving && { terminationGracePeriodSeconds: UPLOAD_SECONDS }),
  }
}

/** Rank 0, or the role that decides. Where one template serves all workers, every worker: those without checkpoints are idle. */
function savesCheckpoints({ job, role, index }: PodIdentity): boolean {
  return role === WORKER ? index === '0' || Number.isNaN(Number(index)) : role === decidingRole(job.spec)
}

function download({ job }: PodIdentity, config: TrainingConfig, resumeFrom: string | undefined): Container[] {
  if (resumeFrom === undefined || checkpointNameAt(job.spec, resumeFrom) === undefined) return []
  const args = ['checkpoints-download', `--from=${resumeFrom}`, `--to=${checkpointDirectory(job.spec)}`]
  return [agentContainer(job, config, { name: 'checkpoint-download', args, mounts: mountsOf(job), usesBucket: true })]
}

function upload({ job }: PodIdentity, config: TrainingConfig, reporting: Reporting | undefined): Container {
  const args = [
    'checkpoints-upload',
    `--from=${checkpointDirectory(job.spec)}`,
    `--to=${checkpointRoot(job.spec)}`,
    `--keep-last=${job.spec.checkpoint.keepLast}`,
  ]
  const container = agentContainer(job, config, {
    name: 'checkpoint-upload',
    args,
    mounts: [...mountsOf(job), ...(reporting ? [reportMount] : [])],
    env: reportVariables(job, reporting),
    usesBucket: true,
  })
  return { ...container, restartPolicy: 'Always' }
}

const mountsOf = (job: PodIdentity['job']) => [checkpointMount(job)]
