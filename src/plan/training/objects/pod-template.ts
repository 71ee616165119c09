/**
 * The pod template of both engines. It passes Pod Security `restricted`. Its restart policy is Never: the planner observes
 * and counts every failure.
 */
import type { ComputeResources } from '../../../api/compute.ts'
import { trainingGuards } from '../../../api/pod-guards.ts'
import type { Role } from '../../../api/training-roles.ts'
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import type { Pod } from '../../../kube/resources.ts'
import { fingerprint } from '../../fingerprint.ts'
import { withoutRecommended } from '../../labels.ts'
import { gpuEnvironment, isDevice } from '../../pod/gpu-environment.ts'
import { type Templates, withPodTemplates } from '../../pod/pod-template.ts'
import { type Resources, resourcesOf } from '../../pod/resources.ts'
import { restrictedContainerSecurity, restrictedPodSecurity } from '../../pod/security-context.ts'
import { serviceAccountOf } from '../../pod/service-account.ts'
import type { TrainingConfig } from '../config.ts'
import type { PodIdentity } from '../frameworks/pod-identity.ts'
import { frameworkOf } from '../frameworks/registry.ts'
import { gpusOf, rolesOf } from '../frameworks/roles.ts'
import type { Membership, Placement } from '../gangs/contract.ts'
import { ATTEMPT_LABEL, CONTAINER, JOB_UID_LABEL, objectLabels, ROLE_LABEL, serviceName } from '../names.ts'
import type { Attempt } from '../observe/attempt.ts'
import type { Reporting, TrainingObserved } from '../observe/observed.ts'
import { resumptionOf } from '../observe/resumption.ts'
import { bucketFields } from './bucket-containers.ts'
import { commandOf } from './command.ts'
import { environment } from './environment.ts'
import { reportAnnotations, reportVariables } from './reporting.ts'
import { jobScheduling } from './scheduling.ts'
import { volumesOf } from './volumes.ts'

export interface PodTemplate {
  readonly metadata: { readonly labels: Record<string, string>; readonly annotations: Record<string, string> }
  readonly spec: NonNullable<Pod['spec']>
}

/** What pods of one template get when they are created. */
export interface PodStart {
  /** Absent if the pods cannot report their progress. */
  readonly reporting?: Reporting | undefined
  /** Location of the checkpoint to resume from. */
  readonly resumeFrom?: string | undefined
  /** Number of checkpoints to keep. */
  readonly keepLast?: number
}

export const startOf = ({ job, reporting }: TrainingObserved, attempt: Attempt): PodStart => ({
  reporting,
  resumeFrom: resumptionOf(job, attempt),
  keepLast: job.spec.checkpoint.keepLast,
})

export function podTemplate(pod: PodIdentity, config: TrainingConfig, start: PodStart = {}): PodTemplate {
  const { job, role } = pod
  const { reporting } = start
  const { volumes, volumeMounts } = volumesOf(job, config, reporting !== undefined)
  const spec: object = {
    restartPolicy: 'Never',
    subdomain: serviceName(job),
    enableServiceLinks: false,
    ...serviceAccountOf(job.spec),
    securityContext: restrictedPodSecurity(config.user, { fsGroupChangePolicy: 'OnRootMismatch' }),
    ...jobScheduling(job, gpusOf(job.spec, role), config),
    volumes,
    ...bucketFields(pod, config, start),
    containers: [{ ...container(pod, config, start), volumeMounts }],
  }
  const rendered = { metadata: metadata(pod, config, reporting), spec: spec as PodTemplate['spec'] }
  return asMember(withPodTemplates(rendered, templatesOf(job, role), trainingGuards), pod.membership)
}

function asMember(template: PodTemplate, membership: Membership | undefined): PodTemplate {
  if (!membership) return template
  const { labels, annotations } = template.metadata
  return {
    metadata: {
      labels: { ...labels, ...membership.labels },
      annotations: { ...annotations, ...membership.annotations },
    },
    spec: placed({ ...template.spec, ...membership.spec }, membership.placement),
  }
}

function placed(spec: PodTemplate['spec'], placement: Placement | undefined): PodTemplate['spec'] {
  if (!placement) return spec
  const { nodeSelector, tolerations, schedulingGates } = placement
  const gates = [...(spec.schedulingGates ?? []), ...schedulingGates]
  const result: object = {
    ...spec,
    nodeSelector: { ...spec.nodeSelector, ...nodeSelector },
    tolerations: [...(spec.tolerations ?? []), ...tolerations],
    ...(gates.length > 0 && { schedulingGates: gates }),
  }
  return result as PodTemplate['spec']
}

/** The templates of users for the pods of a role, in the order in which they are merged. */
export function templatesOf({ spec }: TrainingJob, role: string): Templates {
  return [spec.podTemplate, spec.roles?.find(({ name }) => name === role)?.podTemplate]
}

/**
 * Changes when the spec changes the pods of this role; the same for all pods of the role, whatever their index. Without
 * the recommended labels, which follow from the job and the release, and without what `startOf` adds: pods that run need not
 * be replaced for a new release, a new certificate of the operator, a new checkpoint or another number of them.
 */
export function templateFingerprint(pod: PodIdentity, config: TrainingConfig): string {
  const { metadata: own, spec } = podTemplate({ ...pod, index: '0', rank: { name: 'RANK' } }, config)
  return fingerprint(JSON.stringify({ metadata: { ...own, labels: withoutRecommended(own.labels) }, spec }))
}

/** Labels and annotations that all pods of a role share. */
function metadata(
  { job, attempt, role }: PodIdentity,
  config: TrainingConfig,
  reporting: Reporting | undefined,
): PodTemplate['metadata'] {
  return {
    labels: {
      ...objectLabels(job, role),
      component: 'worker',
      [ROLE_LABEL]: role,
      [ATTEMPT_LABEL]: String(attempt.number),
      [JOB_UID_LABEL]: job.metadata.uid ?? '',
    },
    annotations: {
      'prometheus.io/scrape': 'true',
      'prometheus.io/port': String(config.metricsPort),
      ...reportAnnotations(reporting),
    },
  }
}

function container(pod: PodIdentity, config: TrainingConfig, { reporting, ...start }: PodStart): object {
  const { job, role } = pod
  const { image, resources: wanted } = roleOf(job, role)
  const resources = resourcesIn(wanted, gpusOf(job.spec, role), config)
  return {
    name: CONTAINER,
    image: image ?? defaultImage(job, config),
    ...commandOf(job, role),
    env: [...environment(pod, { reporting: reportVariables(job, reporting), ...start }), ...gpuEnvironment(resources)],
    ...(job.spec.envFrom && { envFrom: job.spec.envFrom }),
    resources,
    securityContext: restrictedContainerSecurity(),
  }
}

/** A pod without devices is often a trial on a small node, so its defaults are small. */
function resourcesIn(wanted: ComputeResources | undefined, gpus: number, config: TrainingConfig): Resources {
  const names = Object.keys({ ...wanted?.requests, ...wanted?.limits })
  const hasDevices = gpus > 0 || names.some(isDevice)
  const { defaultResources, defaultCpuResources, gpuResource } = config
  return resourcesOf(wanted, gpus, {
    defaultResources: hasDevices ? defaultResources : defaultCpuResources,
    gpuResource,
  })
}

/** Fields that a role omits are those of the workers. */
function roleOf({ spec }: TrainingJob, role: string): Pick<Role, 'image' | 'resources'> {
  const own = rolesOf(spec).find(({ name }) => name === role)
  const { image = spec.image, resources = spec.resources } = own ?? spec
  return { ...(image !== undefined && { image }), ...(resources !== undefined && { resources }) }
}

function defaultImage({ spec }: TrainingJob, { defaultImages }: TrainingConfig): string {
  const image = defaultImages[spec.framework] ?? frameworkOf(spec).defaultImage
  return image.replaceAll('{model}', spec.model ?? 'latest')
}
