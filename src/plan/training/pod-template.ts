/**
 * The pod that both engines make. It passes Pod Security `restricted`: no root, no privileges, no capabilities; GPUs come
 * from resource limits and need none of them. It never restarts by itself: a failure is seen, judged and counted here.
 */
import type { Role } from '../../api/training-roles.ts'
import type { TrainingJob } from '../../api/trainingjob.v1.ts'
import type { Pod } from '../../kube/resources.ts'
import { gpusOf, rolesOf } from './attempt.ts'
import { commandOf } from './command.ts'
import type { TrainingConfig } from './config.ts'
import { environment } from './environment/environment.ts'
import type { Placement } from './environment/placement.ts'
import { ATTEMPT_LABEL, CONTAINER, jobLabels, JOB_UID_LABEL, ROLE_LABEL, serviceName } from './names.ts'
import { resourcesOf } from '../resources.ts'
import { schedulingOf } from './scheduling.ts'
import { volumesOf } from './volumes.ts'

export interface PodTemplate {
  readonly metadata: { readonly labels: Record<string, string>; readonly annotations: Record<string, string> }
  readonly spec: NonNullable<Pod['spec']>
}

export function podTemplate(placement: Placement): PodTemplate {
  const { job, config, role } = placement
  const { volumes, volumeMounts } = volumesOf(job, config)
  const spec: object = {
    restartPolicy: 'Never',
    subdomain: serviceName(job),
    enableServiceLinks: false,
    ...identityOf(job),
    securityContext: securityContext(config),
    ...schedulingOf(job, gpusOf(job.spec, role), config),
    volumes,
    containers: [{ ...container(placement), volumeMounts }],
  }
  return { metadata: metadata(placement), spec: spec as PodTemplate['spec'] }
}

/** Labels that every pod of the gang has, and its own place in it. */
function metadata({ job, attempt, config, role }: Placement): PodTemplate['metadata'] {
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

function container(placement: Placement): object {
  const { job, config, role } = placement
  const { image, resources } = roleOf(job, role)
  return {
    name: CONTAINER,
    image: image ?? defaultImage(job, config),
    ...commandOf(job, role),
    env: environment(placement),
    ...(job.spec.envFrom && { envFrom: job.spec.envFrom }),
    resources: resourcesOf(resources, gpusOf(job.spec, role), config),
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  }
}

/** A role is what it says, and else like a worker. */
function roleOf({ spec }: TrainingJob, role: string): Pick<Role, 'image' | 'resources'> {
  const own = rolesOf(spec).find(({ name }) => name === role)
  const { image = spec.image, resources = spec.resources } = own ?? spec
  return { ...(image !== undefined && { image }), ...(resources !== undefined && { resources }) }
}

function defaultImage({ spec }: TrainingJob, { defaultImages }: TrainingConfig): string {
  return defaultImages[spec.framework].replaceAll('{model}', spec.model ?? 'latest')
}

/** Training code has no business with the API server unless it is given an account for it. */
function identityOf({ spec: { serviceAccountName, imagePullSecrets } }: TrainingJob): object {
  return {
    ...(serviceAccountName === undefined ? { automountServiceAccountToken: false } : { serviceAccountName }),
    ...(imagePullSecrets && { imagePullSecrets }),
  }
}

function securityContext({ user }: TrainingConfig): object {
  return {
    runAsNonRoot: true,
    runAsUser: user,
    runAsGroup: user,
    fsGroup: user,
    fsGroupChangePolicy: 'OnRootMismatch',
    seccompProfile: { type: 'RuntimeDefault' },
  }
}
