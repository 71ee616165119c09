/**
 * The pod template of users for validation pods. They run where and as servers do, with two differences: the part for the
 * server applies to the validation, without its probes, and other containers are left out, because a Job ends only when
 * all containers of its pod have ended. Sidecars among the init containers end with the pod, and stay.
 */
import { type PodGuards, servingGuards } from '../../../api/pod-guards.ts'
import type { UserPodTemplate } from '../../../api/pod-template.ts'

export const VALIDATION_CONTAINER = 'validate'

const SERVER = servingGuards.container

export const validationGuards: PodGuards = {
  ...servingGuards,
  container: { ...SERVER, name: VALIDATION_CONTAINER },
  otherContainers: [SERVER.name],
}

/** Of a server that runs for a long time and answers requests. */
const SERVER_FIELDS = ['lifecycle', 'livenessProbe', 'ports', 'readinessProbe', 'startupProbe']

export function forValidation({ metadata, spec }: UserPodTemplate): UserPodTemplate {
  if (!spec?.containers) return { ...(metadata && { metadata }), ...(spec && { spec }) }
  const containers = spec.containers.filter(({ name }) => name === SERVER.name).map(asValidation)
  return { ...(metadata && { metadata }), spec: { ...spec, containers } }
}

type TemplateContainer = NonNullable<NonNullable<UserPodTemplate['spec']>['containers']>[number]

function asValidation(container: TemplateContainer): TemplateContainer {
  const kept = Object.entries(container).filter(([field]) => !SERVER_FIELDS.includes(field))
  return { ...(Object.fromEntries(kept) as unknown as TemplateContainer), name: VALIDATION_CONTAINER } // eslint-disable-line typescript/no-unsafe-type-assertion -- only fields that are not declared were removed
}
