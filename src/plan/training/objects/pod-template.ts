/**
 * The pod template of both engines. It passes Pod Security `restricted`. Its restart policy is Never: the planner observes
 * and counts every failure.
 */
import type { ComputeResources } from '../../../api/compute.ts'
import type { Role } from '../../../api/training-roles.ts'
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import type { Pod } from '../../../kube/resources.ts'
import { fingerprint } from '../../fingerprint.ts'
import { gpuEnvironment, isDevice } from '../../pod/gpu-environment.ts'
import { type Resources, resourcesOf } from '../../pod/resources.ts'
import { restrictedContainerSecurity, restrictedPodSecurity } from '../../pod/security-context.ts'
import { serviceAccountOf } from '../../pod/service-account.ts'
import type { TrainingConfig } from '../config.ts'
import type { PodIdentity } from '../frameworks/pod-identity.ts'
import { frameworkOf } from '../frameworks/registry.ts'
import { gpusOf, rolesOf } from '../frameworks/roles.ts'
import { ATTEMPT_LABEL, CONTAINER, JOB_UID_LABEL, jobLabels, ROLE_LABEL, serviceName } from '../names.ts'
import { commandOf } from './command.ts'
import { environment } from './environment.ts'
import { jobScheduling } from './scheduling.ts'
import { volumesOf } from './volumes.ts'

export interface PodTemplate {
  readonly metadata: { readonly labels: Record<string, string>; readonly annotations: Record<string, string> }
  readonly spec: NonNullable<Pod['spec']>
}

export function podTemplate(pod: PodIdentity, config: TrainingConfig): PodTemplate {
  const { job, role } = pod
  const { volumes, volumeMounts } = volumesOf(job, config)
  const spec: object = {
    restartPolicy: 'Never',
    subdomain: serviceName(job),
    enableServiceLinks: false,
    ...serviceAccountOf(job.spec),
    securityContext: restrictedPodSecurity(config.user, { fsGroupChangePolicy: 'OnRootMismatch' }),
    ...jobScheduling(job, gpusOf(job.spec, role), config),
    volumes,
    containers: [{ ...container(pod, config), volumeMounts }],
  }
  return { metadata: metadata(pod, config), spec: spec as PodTemplate['spec'] }
}

/** Changes when the spec changes the pods of this role; the same for all pods of the role, whatever their index. */
export function templateFingerprint(pod: PodIdentity, config: TrainingConfig): string {
  return fingerprint(JSON.stringify(podTemplate({ ...pod, index: '0', rank: { name: 'RANK' } }, config)))
}

/** Labels and annotations that all pods of a role share. */
function metadata({ job, attempt, role }: PodIdentity, config: TrainingConfig): PodTemplate['metadata'] {
  return {
    labels: {
      ...jobLabels(job),
      component: 'worker',
      [ROLE_LABEL]: role,
      [ATTEMPT_LABEL]: String(attempt.number),
      [JOB_UID_LABEL]: job.metadata.uid ?? '',
    },
    annotations: { 'prometheus.io/scrape': 'true', 'prometheus.io/port': String(config.metricsPort) },
  }
}

function container(pod: PodIdentity, config: TrainingConfig): object {
  const { job, role } = pod
  const { image, resources: wanted } = roleOf(job, role)
  const resources = resourcesIn(wanted, gpusOf(job.spec, role), config)
  return {
    name: CONTAINER,
    image: image ?? defaultImage(job, config),
    ...commandOf(job, role),
    env: [...environment(pod), ...gpuEnvironment(resources)],
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
